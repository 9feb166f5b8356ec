/**
 * Formats that issuers publish for scanners: the kind, a part that every such secret contains (a cheap test of a whole
 * text), and the secret itself. Test keys of payment providers are not included.
 */
export const FORMATS: readonly (readonly [kind: string, mark: RegExp, secret: RegExp])[] = [
  ['private key', /PRIVATE KEY/, /-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----/],
  ['PuTTY key', /PuTTY-User-Key-File-/, /PuTTY-User-Key-File-[23]:/],
  ['Age key', /AGE-SECRET-KEY-1/, /\bAGE-SECRET-KEY-1[A-Z0-9]{58}\b/],
  // Cloud and hosting.
  ['AWS access key', /A(?:K|S|B|C)[IC]A/, /\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b/],
  [
    'AWS secret key',
    /secret_?access_?key/i,
    /\baws_?secret_?access_?key["']?\s{0,4}[:=]\s{0,4}["']?[A-Za-z0-9+/]{40}(?![A-Za-z0-9+/=])/i,
  ],
  ['Azure storage key', /AccountKey=/, /AccountKey=[A-Za-z0-9+/]{86}==/],
  ['Azure client secret', /\dQ~/, /(?<![A-Za-z0-9_~.-])[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34}(?![A-Za-z0-9_~.-])/],
  ['Google key', /AIza/, /\bAIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])/],
  [
    'Google OAuth secret',
    /GOCSPX-|ya29\./,
    /\bGOCSPX-[A-Za-z0-9_-]{28}(?![A-Za-z0-9_-])|\bya29\.[A-Za-z0-9_-]{60,400}/,
  ],
  ['Alibaba key', /LTAI/, /\bLTAI[A-Za-z0-9]{20}\b/],
  ['DigitalOcean token', /do[opr]_v1_/, /\bdo[opr]_v1_[0-9a-f]{64}\b/],
  ['Heroku key', /HRKU-/, /\bHRKU-[A-Za-z0-9_-]{36,60}/],
  ['Fly.io token', /FlyV1 fm\d_/, /\bFlyV1 fm\d_[A-Za-z0-9+/=_-]{50,1000}/],
  ['Netlify token', /nfp_/, /\bnfp_[A-Za-z0-9]{36}\b/],
  ['Supabase token', /sbp_/, /\bsbp_[0-9a-f]{40}\b/],
  ['PlanetScale password', /pscale_/, /\bpscale_(?:pw|tkn|oauth)_[A-Za-z0-9_.=-]{32,64}/],
  ['Databricks token', /dapi/, /\bdapi[0-9a-f]{32}(?:-\d)?\b/],
  ['Vault token', /hv[sbr]\./, /\bhv[sbr]\.[A-Za-z0-9_-]{24,300}/],
  ['Terraform Cloud token', /\.atlasv1\./, /\b[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,70}/],
  ['Pulumi token', /pul-/, /\bpul-[0-9a-f]{40}\b/],
  ['Doppler token', /dp\.(?:ct|pt|st|sa|scim|audit)\./, /\bdp\.(?:ct|pt|st|sa|scim|audit)\.[A-Za-z0-9_.-]{40,60}/],
  ['Tailscale key', /tskey-/, /\btskey-[a-z]{2,10}-[A-Za-z0-9]{6,30}-[A-Za-z0-9]{20,60}/],
  ['1Password token', /ops_eyJ/, /\bops_eyJ[A-Za-z0-9_-]{200}/],
  // Code hosting, packages, builds.
  ['GitHub token', /gh[pousr]_|github_pat_/, /\b(?:gh[pousr]_[A-Za-z0-9]{36,251}|github_pat_[A-Za-z0-9_]{60,251})\b/],
  [
    'GitLab token',
    /gl[a-z]{2,6}-|GR1348941/,
    /\bgl(?:pat|ptt|dt|rt|cbt|agent|soat|ft|imt|oas|ffct|wt)-[A-Za-z0-9_.-]{20,300}|\bGR1348941[A-Za-z0-9_-]{20}/,
  ],
  ['Atlassian token', /AT[AC]TT3/, /\bAT[AC]TT3[A-Za-z0-9_=-]{60,300}/],
  [
    'npm token',
    /npm_|_authToken/,
    /\bnpm_[A-Za-z0-9]{36}\b|:_authToken\s{0,4}=\s{0,4}["']?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/,
  ],
  ['PyPI token', /pypi-AgE/, /\bpypi-AgE[A-Za-z0-9_-]{50,500}/],
  ['RubyGems key', /rubygems_/, /\brubygems_[0-9a-f]{48}\b/],
  ['NuGet key', /oy2/, /\boy2[a-z0-9]{43}\b/],
  ['crates.io token', /cio/, /\bcio[A-Za-z0-9]{32}\b/],
  ['Docker token', /dckr_[po]at_/, /\bdckr_[po]at_[A-Za-z0-9_-]{27,40}/],
  ['Artifactory key', /AKCp|cmVmdGtuO/, /\bAKCp[A-Za-z0-9]{69}\b|\bcmVmdGtuO[A-Za-z0-9]{55}\b/],
  ['Sentry token', /sntry[su]_/, /\bsntry(?:s_eyJ[A-Za-z0-9+/=_-]{80,400}|u_[0-9a-f]{64}\b)/],
  ['Grafana token', /gl(?:sa|c)_/, /\bglsa_[A-Za-z0-9]{32}_[0-9A-Fa-f]{8}\b|\bglc_[A-Za-z0-9+/]{32,400}/],
  ['New Relic key', /NRAK-/, /\bNRAK-[A-Z0-9]{27}\b/],
  ['Postman key', /PMAK-/, /\bPMAK-[0-9a-f]{24}-[0-9a-f]{34}\b/],
  ['Linear key', /lin_api_/, /\blin_api_[A-Za-z0-9]{40}\b/],
  ['Notion token', /ntn_|secret_/, /\bntn_[A-Za-z0-9]{43,50}\b|\bsecret_[A-Za-z0-9]{43}\b/],
  ['Figma token', /fig[dor]_/, /\bfig[dor]_[A-Za-z0-9_-]{40,60}/],
  // Models.
  ['Anthropic key', /sk-ant-/, /\bsk-ant-(?:api|oat|ort|admin|sid)\d{2}-[A-Za-z0-9_-]{20,200}/],
  ['OpenAI key', /T3BlbkFJ/, /\bsk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,74}T3BlbkFJ[A-Za-z0-9_-]{20,74}/],
  ['OpenRouter key', /sk-or-v1-/, /\bsk-or-v1-[0-9a-f]{64}\b/],
  ['Hugging Face token', /hf_/, /\bhf_[A-Za-z]{34}\b/],
  ['Groq key', /gsk_/, /\bgsk_[A-Za-z0-9]{52}\b/],
  ['xAI key', /xai-/, /\bxai-[A-Za-z0-9]{80}\b/],
  ['Perplexity key', /pplx-/, /\bpplx-[A-Za-z0-9]{48}\b/],
  ['Replicate token', /r8_/, /\br8_[A-Za-z0-9]{37}\b/],
  ['LangSmith key', /lsv2_/, /\blsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}\b/],
  // Messages, mail, money.
  [
    'Slack token',
    /xox[a-z]|xapp-|hooks\.slack\.com/,
    /\bxox[abcdeposr][-.][A-Za-z0-9.%-]{10,250}|\bxapp-\d-[A-Z0-9]{8,14}-\d{8,16}-[0-9a-f]{32,80}|https:\/\/hooks\.slack\.com\/(?:services|workflows|triggers)\/[A-Z0-9]{6,14}\/[A-Z0-9]{6,20}\/[A-Za-z0-9]{20,40}/,
  ],
  [
    'Discord token',
    /discord(?:app)?\.com\/api\/webhooks|[\w-]\.[\w-]{6}\.[\w-]{27}/,
    /https:\/\/(?:\w+\.)?discord(?:app)?\.com\/api\/webhooks\/\d{17,20}\/[A-Za-z0-9_-]{60,80}|\b[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}(?![A-Za-z0-9_-])/,
  ],
  ['Telegram token', /:AA/, /\b\d{8,10}:AA[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])/],
  ['Stripe key', /[rs]k_live_|whsec_/, /\b[rs]k_live_[A-Za-z0-9]{20,247}\b|\bwhsec_[A-Za-z0-9+/=]{32,64}/],
  ['Square token', /sq0(?:atp|csp)-/, /\bsq0(?:atp|csp)-[A-Za-z0-9_-]{22,43}/],
  ['Shopify token', /shp(?:at|ca|pa|ss)_/, /\bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}\b/],
  ['SendGrid key', /SG\./, /\bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])/],
  ['Brevo key', /xkeysib-/, /\bxkeysib-[0-9a-f]{64}-[A-Za-z0-9]{16}\b/],
  ['Mailgun key', /key-/, /\bkey-[0-9a-f]{32}\b/],
  ['Mailchimp key', /-us\d/, /\b[0-9a-f]{32}-us\d{1,2}\b/],
  ['Twilio key', /SK[0-9a-f]/, /\bSK[0-9a-f]{32}\b/],
  [
    'password in a URL',
    /:\/\/[^\s:@/]{1,64}:[^\s@/]{6}/,
    /\b[a-z][a-z0-9+]{1,20}:\/\/[^\s:@/"'<>{}$]{1,64}:(?!\*+@|x+@|password@|pass@|secret@|user@|changeme@|example@)[^\s:@/"'<>{}$]{6,128}@[A-Za-z0-9.-]{3,128}/i,
  ],
  ['JSON web token', /eyJhbGci/, /\beyJhbGci[A-Za-z0-9_-]{10,200}\.eyJ[A-Za-z0-9_-]{10,2000}\.[A-Za-z0-9_-]{20,1000}/],
];
/** A name of a secret with a long value in quotes, which is the first group. */
export const ASSIGNED =
  /\b(?:api[_-]?key|secret[_-]?key|client[_-]?secret|access[_-]?token|auth[_-]?token|private[_-]?key|passwd|password)["']?\s{0,4}[:=]\s{0,4}["']([A-Za-z0-9+/_=.-]{16,200})["']/i;
/** What stands for a secret in examples and documentation. */
export const PLACEHOLDER =
  /example|placeholder|dummy|sample|changeme|your[_-]|xxxx|\.\.\.|<[^>]{1,40}>|1234567890|abcdefgh|0{8}|test[_-]?(key|token|secret)|localhost|127\.0\.0\.1/i;

/** Bits a character, of the text's own letter frequencies. */
export function entropy(text: string): number {
  const counts = new Map<string, number>();
  for (const char of text) counts.set(char, (counts.get(char) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}
