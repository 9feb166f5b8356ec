import { anyOf, oneOf, pattern } from '../../formats/words.ts';
import type { Rule } from '../../judges/rule.ts';

const PERMISSION_FILES = [
  '{androidmanifest,network_security_config}.xml',
  'info.plist',
  '{manifest,tauri.conf,vercel}.json',
  'snapcraft.y{,a}ml',
  '*.entitlements',
  '*flatpak*.{json,yml,yaml}',
  '*flatpak*/**/*.{json,yml,yaml}',
  'capabilities/*.json',
  '_headers',
  'netlify.toml',
  'nginx.conf',
  '*{iam,policy,rbac,role}*.{json,yml,yaml,tf}',
];
const BROWSER_PERMISSIONS = oneOf`
  nativeMessaging debugger proxy webRequest(Blocking)? cookies management downloads\.open clipboardRead
  [*h][\w*]*:\/\/\*\/\*
`;

/** Checks that are switched off and permissions that become wider. */
export const CHECKS_SIGNALS: readonly Rule[] = [
  {
    id: 'check-weakened',
    title: 'Disabled check',
    family: 'content',
    when: 'reading, running or opening the file',
    severity: 'suspect',
    files: [
      '*',
      '!*.{md,mdx,rst,adoc,lock}',
      '!{doc,docs,test,tests,fixtures}/**',
      '!{changelog,changes,history,news,release{,-,_}notes}*.txt',
    ],
    look: [
      {
        kind: 'signal',
        danger: anyOf(
          /--no-verify(?![\w-])|GOFLAGS=.{0,40}-insecure|GONOSUMDB|GONOSUMCHECK|GOINSECURE|gpgcheck\s*=\s*0/i,
          /\[trusted=yes\]|--allow-unauthenticated|--insecure\b|curl\s+(-\w*k\b|[^|;]{0,200}\s-k\s)/i,
          /(?<![a-z])verify\s*=\s*False|rejectUnauthorized\s*:\s*false|NODE_TLS_REJECT_UNAUTHORIZED/i,
          /InsecureSkipVerify\s*:\s*true|--trusted-host|strict-ssl\s*(?:=\s*)?false|--no-check-certificate/i,
          /CURLOPT_SSL_VERIFYPEER\s*,\s*(0|false)|StrictHostKeyChecking[= ]no|--disable-integrity|SSL_VERIFY_NONE/i,
          /check_hostname\s*=\s*False|\bVERIFY_NONE\b|@csrf_exempt|skip_before_action\s+:verify_authenticity_token/i,
          /csrf\(\s*\)\.disable|--no-sandbox\b|chmod\s+(-R\s+)?[0-7]?777\b|\bsetenforce\s+0\b|^DEBUG\s*=\s*True\b/i,
          /verify_peer\S{0,3}\s*(=>|=|:)\s*false|verify_ssl\s*[:=]\s*false|allowUnsafeSsl|ssl_verify\s*[:=]\s*(false|0)/i,
        ),
        counted: /^\s{0,100}[A-Za-z_][\w.]{0,100}\.check_hostname = False$/,
      },
    ],
    why: 'Data that is fetched or pushed is no longer verified.',
    source: 'SLSA; package manager documentation',
  },
  {
    id: 'test-neutralised',
    title: 'Skipped or weakened test',
    family: 'content',
    when: 'reading, running or opening the file',
    severity: 'note',
    files: ['*', '!*.{md,rst}'],
    look: [
      {
        kind: 'signal',
        danger: anyOf(
          /\b(it|test|describe|context|suite)\.(skip|todo|only)\b|\bx(it|describe|test)\(|@(Ignore|Disabled)\b/,
          /#\[ignore|\bt\.Skip(Now|f)?\(|pytest\.mark\.(skip|xfail)|unittest\.skip|\|\|\s*true\b|--passWithNoTests/,
          /\bcontinue-on-error:\s*true|allow_failure:\s*true|\bif:\s*(false|\$\{\{\s*false)/,
        ),
      },
    ],
    why: 'Continuous integration passes without checking.',
    source: 'documentation of the test runners',
  },
  {
    id: 'check-suppressed',
    title: 'Silenced linter or scanner',
    family: 'content',
    when: 'reading, running or opening the file',
    severity: 'note',
    files: ['*', '!*.{md,rst}'],
    look: [
      {
        kind: 'signal',
        danger: anyOf(
          /eslint-disable(?!-next-line\s+[\w-]+\/?(format|style|indent|max-len))|@ts-(ignore|nocheck)/,
          /#\s*(noqa|nosec|type:\s*ignore|pylint:\s*disable)|\/\/\s*(nolint|NOSONAR)|gitleaks:allow|nosemgrep/,
          /semgrep:\s*nosem|#pragma\s+warning\s+disable|CodeQL\s*\[|lgtm\s*\[|@SuppressWarnings|rubocop:disable/,
          /biome-ignore/,
        ),
      },
    ],
    why: 'The tool no longer reports problems of this code.',
    source: 'documentation of the tools',
  },
  {
    id: 'permissions-widened',
    title: 'Wider permissions',
    family: 'content',
    when: 'reading, running or opening the file',
    severity: 'suspect',
    files: [...PERMISSION_FILES, '*.{js,ts,jsx,tsx,html}', '!*.d.ts'],
    look: [
      {
        kind: 'signal',
        danger: anyOf(
          /<uses-permission|NSAllowsArbitraryLoads|"permissions"\s*:|"host_permissions"|"<all_urls>"/i,
          /nodeIntegration\s*:\s*true|contextIsolation\s*:\s*false|webSecurity\s*:\s*false|'unsafe-(inline|eval)'/i,
          /Access-Control-Allow-Origin["']?\s*[:,]\s*["']?\*|"(Action|Resource)"\s*:\s*"\*"|plugs:/i,
          /--filesystem=(host|home)|com\.apple\.security\.[\w.-]*(disable|allow)/i,
          /android:(debuggable|usesCleartextTraffic|exported)="true"|<certificates\s+src="user"/i,
          pattern('i')`^"(${BROWSER_PERMISSIONS})",?$`,
          /verbs:\s*(?:\[\s*)?["']\*/i,
        ),
      },
    ],
    why: 'The installed or deployed program may do more than before.',
    source: 'platform documentation',
  },
];
