import { anyOf, wholeLine } from '../../formats/words.ts';
import { judge, newLinesWith } from '../../judges/judge.ts';
import { withoutNextVersions } from '../../judges/next-versions.ts';
import { ANY_CHANGE, type JudgedText, type Look, type Rule } from '../../judges/rule.ts';
import { imageMoved } from './kubernetes.ts';

/** A variable of the host that holds a secret of a tool, and any variable in a command. */
const HOST_SECRET =
  /\$\{?(ANTHROPIC|OPENAI|CLAUDE|GEMINI|AWS|AZURE|GOOGLE|GH|GITHUB|GITLAB|NPM|PYPI|CARGO|DOCKER|SSH|HF|VAULT|KUBE|CI)_\w*/;

/** Lines of a Dockerfile that are plain data; every other one counts. */
const IMAGE_LINES: Look = {
  kind: 'lines',
  danger: /./,
  // A continued line, or one of a here-document, is a command: a line is safe only if it cannot be one.
  harmless: wholeLine(
    /(LABEL|EXPOSE|WORKDIR|STOPSIGNAL|MAINTAINER|VOLUME|ARG(?=\s+\w+(=["']?[\d.]*["']?)?$)|COPY(?!\s+--from))\s[^;|&`$<>()]*/i,
    /ENV (?!LD_|BASH_ENV|ENV=|PATH=|NODE_OPTIONS|PYTHON|PERL|RUBY|GIT_|JAVA_TOOL)\w+=[\w.-]+/i,
    /[\])}\\]+/i,
    /#\s*syntax\s*=\s*docker\/dockerfile:1(\.\d{1,3}){0,2}/i,
    /#(?!\s*(syntax|escape|check)\s*=).*/i,
  ),
};
/** A base image with the version of its tag. */
const NEXT_IMAGE = /^FROM [\w./-]+:(\d[\w.-]{0,60})(?: as [\w.-]+)?$/i;

export const infraRules: readonly Rule[] = [
  {
    id: 'infra-dockerfile',
    family: 'infrastructure',
    when: 'docker build, opening a devcontainer',
    severity: 'suspect',
    files: [
      'Dockerfile',
      'Dockerfile.*',
      '*.dockerfile',
      'Dockerfile-*',
      'Containerfile*',
      '*.containerfile',
      '.s2i/**',
    ],
    look: [{ kind: 'custom', see: (text) => judge({ look: [IMAGE_LINES] }, withoutNextVersions(text, NEXT_IMAGE)) }],
    why: 'The build runs its commands and fetches the base image that it names.',
    source: 'Dockerfile reference',
  },
  {
    id: 'infra-compose',
    family: 'infrastructure',
    when: 'docker compose up',
    severity: 'suspect',
    files: ['docker-compose*.y{,a}ml', 'compose*.y{,a}ml', 'podman-compose*.y{,a}ml', 'stack.y{,a}ml'],
    look: [
      {
        kind: 'keys',
        format: 'yaml',
        danger: anyOf(
          /privileged|volumes|network_mode|\bpid$|\bipc$|userns|cap_add|devices|security_opt|\.file$|context/i,
          /dockerfile|ports|post_start|pre_stop|extends|include|env_file|cgroup|sysctls|runtime|\bdns|extra_hosts/i,
          /deploy\.|develop\.|configs|provider|build$|\.user$|group_add|\.uts$|cgroup_parent|credential_spec/i,
          /use_api_socket|gpus|label_file/i,
        ),
        harmless: /\.user=\d{3,}(:\d+)?$/,
        removed: /\.(read_only|cap_drop|security_opt|user|internal|pids_limit|mem_limit)(\[\])?$/,
      },
      { kind: 'keys', format: 'yaml', danger: /\.image$/, harmless: /^[^=]*=[\w./-]+(:[\w.-]+)?$/ },
      { kind: 'custom', see: imageMoved },
      { kind: 'custom', see: commandForHost },
      { kind: 'keys', format: 'yaml', value: HOST_SECRET },
    ],
    why: 'Containers get host folders, rights or other programs.',
    source: 'Compose specification',
  },
  {
    id: 'infra-compose-override',
    family: 'infrastructure',
    when: 'docker compose up, which loads it by default',
    severity: 'suspect',
    files: ['docker-compose.override.y{,a}ml', 'compose.override.y{,a}ml', 'docker-bake*.{hcl,json}'],
    look: [ANY_CHANGE],
    harmless: ['comments'],
    why: 'Compose merges the file over the other one because of its name alone.',
    source: 'Compose documentation, Merge',
  },
  {
    id: 'infra-terraform',
    family: 'infrastructure',
    when: 'terraform init and plan; plan already runs programs',
    severity: 'suspect',
    files: [
      '*.tf',
      '*.tf.json',
      '*.tofu',
      'terragrunt.hcl',
      '.terraform.lock.hcl',
      '*.pkr.hcl',
      '*.nomad',
      '*.nomad.hcl',
      '{nomad,job}.hcl',
      '.terraformrc',
      'terraform.rc',
      '*.tfvars{,.json}',
      '.tflint.hcl',
      '*.hcl',
      '*.tm{,.hcl}',
      '.opentofu',
    ],
    look: [
      {
        kind: 'lines',
        danger: anyOf(
          /local-exec|remote-exec|"external"|provisioner|\bprovider\b|\bsource\s*=(?!\s*\[)|backend|run_cmd/i,
          /(before|after|error)_hook|shell-local|\bcommand\s*=|\bprogram\s*=|\bmodule\s|hashes|h1:|zh:|plugin/i,
          /dynamic_credentials|http\b|host\s*=|cidr_blocks.*0\.0\.0\.0|Principal.*\*|script|\bdriver\s*=/i,
          /\bartifact\b|\btemplate\b|credential_process|credentials_helper|mirror|dev_overrides|\bcloud\s*\{/i,
          /organization\s*=|\bfile\w*\s*\(\s*"(\/|~|\.\.)|user_data|custom_data|startup[-_]script|^#!/i,
          /"(0\.0\.0\.0|::)\/0"|actions?\s*=\s*(\[\s*)?"\*"|public-read|publicly_accessible\s*=\s*true/i,
          /\bimport\s*\{|\bexecute\b|run_cmd|pathexpand\s*\(|"local_(sensitive_)?file"|"null_resource"|"terraform_data"/i,
          /endpoints?\s*=\s*"https?:|"endpoints?"\s*:\s*"https?:/i,
        ),
        removed: /\b(h1|zh):|prevent_destroy|deletion_protection|block_public|encrypted?\s*=\s*true/,
        harmless: /^(#(?!!)|\/\/)|^\s*(description|tags?|Name)\s*=/,
      },
    ],
    why: 'Planning runs programs and downloads providers that it names.',
    source: 'Terraform documentation',
  },
  {
    id: 'infra-terraform-auto',
    family: 'infrastructure',
    when: 'terraform plan, which loads it by its name alone',
    severity: 'suspect',
    files: ['*.auto.tfvars{,.json}', '*_override.tf{,.json}', 'override.tf{,.json}', '.opentofu{,-version}'],
    look: [{ kind: 'new' }],
    why: 'It replaces values and blocks of the other files.',
    source: 'Terraform documentation, variable definitions and override files',
  },
  {
    id: 'infra-deploy',
    family: 'infrastructure',
    when: 'deploying, cdk synth, serverless',
    severity: 'suspect',
    files: [
      'cdk.json',
      'cdktf.json',
      'Pulumi*.y{,a}ml',
      'serverless*.{yml,yaml,json,ts,js}',
      'samconfig.toml',
      'template.y{,a}ml',
      'bicepconfig.json',
      'fly{,.*,-*}.toml',
      'app.yaml',
      'firebase.json',
      'project.toml',
      'flyway*.{conf,toml}',
      'liquibase*.properties',
      'sqitch.conf',
      'render.yaml',
      'railway.{json,toml}',
      'nixpacks.toml',
      'heroku.yml',
      'captain-definition',
      'now.json',
      'apprunner.yaml',
      'copilot/**/manifest.yml',
      'manifest.yml',
      'deploy.{yml,yaml,rb}',
      'Capfile',
      '.kamal/**',
      '.ebextensions/**',
      '.platform/**',
      '.platform.app.yaml',
      'encore.app',
      'sst.config.ts',
      'zeabur.json',
      'azuredeploy*.json',
      '*.bicep',
      'supabase/config.toml',
    ],
    look: [
      { kind: 'code' },
      {
        kind: 'lines',
        danger: anyOf(
          /"?app"?\s*:|command|plugin|hook|BuildMethod|account|region|predeploy|postdeploy|script|runtime|handler/i,
          /role|release|build|url|host|exec|proc|image|registry|run|packages|custom|cmds?\b|entrypoint|phases/i,
        ),
        harmless: /^\s*"?(tags?|description|name)"?\s*[:=](\s*"[^"]*"|[^",{}[\]]*),?$/i,
      },
    ],
    why: 'Deploying runs commands and uploads to the server that it names.',
    source: 'documentation of the tools',
  },
  {
    id: 'infra-server',
    family: 'infrastructure',
    when: 'deploying or copying it by hand',
    severity: 'suspect',
    files: [
      '*nginx*.conf',
      'nginx/**',
      'httpd.conf',
      'apache*.conf',
      '.htaccess',
      'Caddyfile*',
      'php.ini',
      '.user.ini',
      'my.cnf',
      '.my.cnf',
      'redis*.conf',
      '*.service',
      '*.{container,kube,quadlet}',
      '*.timer',
      '*.socket',
      '*.path',
      'crontab*',
      '*.cron',
      'cron.d/**',
      '*.plist',
      'logrotate*',
      'sudoers*',
      '*.sudoers',
      'supervisord*.conf',
      'haproxy.cfg',
      'traefik.y{,a}ml',
      'postgresql.conf',
      'pg_hba.conf',
      'sshd_config',
      'web.config',
      '*.rules',
      '*.desktop',
      'lighttpd.conf',
      'uwsgi.ini',
      'monit{,.conf,.cfg}',
      'monit/**',
      'monitrc',
      '!*.{go,rs,c,h,cc,cpp,hpp,java,kt,cs,swift}',
    ],
    // Source of the server itself, say caddyfile.go: a compiler reads it.
    look: [
      {
        kind: 'lines',
        danger: anyOf(
          /load_module|perl_|lua_|exec|Exec|ProgramArguments|program|command|auto_(pre|ap)pend|extension\s*=/i,
          /LoadModule|SetHandler|AddHandler|php_value|RewriteRule|proxy_pass|root\s|alias\s|include|plugin/i,
          /init-command|loadmodule|script|NOPASSWD|ALL\s*=|trust|PermitRoot|allow|cgi|hook|\* \* \*|^[\d*@].*\s\//i,
          /postrotate|on-(start|stop)|handlers|\bRUN\b|archive_command|shared_preload/i,
          /^(User|Group|Environment(File)?|AmbientCapabilities|LoadCredential)=|^<string>(\/|-\w<|(ba|z|da)?sh<)/i,
        ),
        harmless: /^\s*(listen|port|Name)\b[^;{}]*;?$/i,
      },
    ],
    why: 'A service runs the programs that it names, with the rights of the service.',
    source: 'manuals of the servers',
  },
];

const GIVES_HOST =
  /privileged|volumes|network_mode|\b(pid|ipc)\s*:|devices|cap_add|docker\.sock|env_file|configs|secrets/i;

/** A new command counts only in a file that gives a container access to the host. */
function commandForHost(text: JudgedText): string[] {
  return GIVES_HOST.test(text.after ?? '') ? newLinesWith(text, /\b(command|entrypoint|test)["']?\s*:/) : [];
}
