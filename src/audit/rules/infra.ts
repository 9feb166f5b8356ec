import type { FileRule, JudgedText } from '../rule.ts';
import { newLeaves, readStructure } from '../structured.ts';

export const infraRules: readonly FileRule[] = [
  {
    id: 'infra-dockerfile',
    family: 'infrastructure',
    trigger: 'docker build, opening a devcontainer',
    severity: 'suspect',
    paths: [
      'Dockerfile',
      'Dockerfile.*',
      '*.dockerfile',
      'Dockerfile-*',
      'Containerfile*',
      '*.containerfile',
      '.s2i/**',
    ],
    judges: [
      {
        kind: 'lines',
        danger: /./,
        // A line that goes on from the one before, or stands in a here-document, is a command: quiet is what cannot be one.
        safe: /^((LABEL|EXPOSE|WORKDIR|STOPSIGNAL|MAINTAINER|VOLUME|ARG(?=\s+\w+(=[\d.]*)?$)|COPY(?!\s+--from))\s[^;|&`$<>()]*|ENV (?!LD_|BASH_ENV|ENV=|PATH=|NODE_OPTIONS|PYTHON|PERL|RUBY|GIT_|JAVA_TOOL)\w+=[\w.-]+|[\])}\\]+|#(?!\s*(syntax|escape)\s*=).*)$/i,
      },
    ],
    why: 'The build runs it, and takes its base from where it says.',
    source: 'Dockerfile reference',
  },
  {
    id: 'infra-compose',
    family: 'infrastructure',
    trigger: 'docker compose up',
    severity: 'suspect',
    paths: ['docker-compose*.y{,a}ml', 'compose*.y{,a}ml', 'podman-compose*.y{,a}ml', 'stack.y{,a}ml'],
    judges: [
      {
        kind: 'keys',
        format: 'yaml',
        danger:
          /privileged|volumes|network_mode|\bpid$|\bipc$|userns|cap_add|devices|security_opt|\.file$|context|dockerfile|ports|post_start|pre_stop|extends|include|env_file|cgroup|sysctls|runtime|\bdns|extra_hosts|deploy\.|develop\.|configs|provider|build$|\.user$|group_add|\.uts$|cgroup_parent|credential_spec|use_api_socket|gpus|label_file/i,
        safe: /\.user=\d{3,}(:\d+)?$/,
        removed: /\.(read_only|cap_drop|security_opt|user|internal|pids_limit|mem_limit)(\[\])?$/,
      },
      { kind: 'keys', format: 'yaml', danger: /\.image$/, safe: /^[^=]*=[\w./-]+(:[\w.-]+)?$/ },
      { kind: 'custom', see: imageMoved },
      { kind: 'custom', see: commandBesideHost },
    ],
    why: 'Containers get host folders, rights or other programs.',
    source: 'Compose specification',
  },
  {
    id: 'infra-compose-override',
    family: 'infrastructure',
    trigger: 'docker compose up, which loads it without being told',
    severity: 'suspect',
    paths: ['docker-compose.override.y{,a}ml', 'compose.override.y{,a}ml', 'docker-bake*.{hcl,json}'],
    always: true,
    judges: [],
    why: 'It is merged over the other file by its name alone.',
    source: 'Compose documentation, Merge',
  },
  {
    id: 'infra-kubernetes',
    family: 'infrastructure',
    trigger: 'kubectl apply, helm upgrade, tilt up, skaffold dev',
    severity: 'suspect',
    paths: [
      '{k8s,kubernetes,manifests,deploy,deployment,helm,charts,kustomize,overlays}/**/*.y{,a}ml',
      'kustomization.y{,a}ml',
      'Chart.yaml',
      'values*.y{,a}ml',
      'helmfile.y{,a}ml',
      'skaffold.y{,a}ml',
      'devspace.yaml',
      'garden.y{,a}ml',
      'okteto.y{,a}ml',
      'werf.yaml',
      'templates/**/*.{yaml,yml,tpl}',
      'argocd/**',
      'Tiltfile',
      'draft.toml',
      'kapp*.yml',
    ],
    judges: [
      { kind: 'custom', see: kubernetesObjects },
      { kind: 'custom', see: imageMoved },
      {
        kind: 'lines',
        danger:
          /hostPath|hostNetwork|hostPID|hostIPC|privileged|capabilities|runAsUser:\s*0|allowPrivilege|serviceAccount|ClusterRole|verbs:|resources:\s*\["?\*|image:|repository:|helm\.sh\/hook|hooks?:|local\(|local_resource|exec|command:|args:|https?:|bases:|remote|lifecycle|initContainers|secretKeyRef|postRender|registry|newName:|components:|pipelines:|deploy:|shell:|beforeInstall|^(dev|build|test|run):\s*[|>]|runAsNonRoot:\s*false|hostPort|externalIPs|^[\w.-]+\.(sh|bash|py|rb|js|pl|lua)["']?:\s*[|>]|^-\s+(sh|bash)\s|(generators|transformers|validators|helmCharts|openapi|plugin\w*):/i,
        safe: /^-?\s*image:\s*["']?[\w./-]+(:[\w.-]+)?(@sha256:[0-9a-f]{64})?["']?$/,
        removed:
          /runAsNonRoot:\s*true|readOnlyRootFilesystem:\s*true|allowPrivilegeEscalation:\s*false|seccompProfile|kind:\s*(NetworkPolicy|PodSecurityPolicy|ResourceQuota|LimitRange|ValidatingAdmissionPolicy\w*)|^-\s+ALL$/,
      },
    ],
    why: 'Pods get host folders or rights, or come from another place.',
    source: 'Kubernetes Pod Security Standards; documentation of the tools',
  },
  {
    id: 'infra-terraform',
    family: 'infrastructure',
    trigger: 'terraform init and plan; plan already runs programs',
    severity: 'suspect',
    paths: [
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
    ],
    judges: [
      {
        kind: 'lines',
        danger:
          /local-exec|remote-exec|"external"|provisioner|\bprovider\b|\bsource\s*=|backend|run_cmd|(before|after|error)_hook|shell-local|\bcommand\s*=|\bprogram\s*=|\bmodule\s|hashes|h1:|zh:|plugin|dynamic_credentials|http\b|host\s*=|cidr_blocks.*0\.0\.0\.0|Principal.*\*|script|\bdriver\s*=|\bartifact\b|\btemplate\b|credential_process|credentials_helper|mirror|dev_overrides|\bcloud\s*\{|organization\s*=|\bfile\w*\s*\(\s*"(\/|~|\.\.)|user_data|custom_data|startup[-_]script|^#!|"(0\.0\.0\.0|::)\/0"|actions?\s*=\s*(\[\s*)?"\*"|public-read|publicly_accessible\s*=\s*true|\bimport\s*\{|\bexecute\b|run_cmd/i,
        removed: /\b(h1|zh):|prevent_destroy|deletion_protection|block_public|encrypted?\s*=\s*true/,
        safe: /^(#(?!!)|\/\/)|^\s*(description|tags?|Name)\s*=/,
      },
    ],
    why: 'Planning runs programs and downloads providers that it names.',
    source: 'Terraform documentation',
  },
  {
    id: 'infra-deploy',
    family: 'infrastructure',
    trigger: 'deploying, cdk synth, serverless',
    severity: 'suspect',
    paths: [
      'cdk.json',
      'cdktf.json',
      'Pulumi*.y{,a}ml',
      'serverless*.{yml,yaml,json,ts,js}',
      'samconfig.toml',
      'template.y{,a}ml',
      'bicepconfig.json',
      'fly*.toml',
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
    judges: [
      { kind: 'code' },
      {
        kind: 'lines',
        danger:
          /"?app"?\s*:|command|plugin|hook|BuildMethod|account|region|predeploy|postdeploy|script|runtime|handler|role|release|build|url|host|exec|proc|image|registry|run|packages|custom|cmds|entrypoint|phases/i,
        safe: /^\s*"?(tags?|description|name)"?\s*[:=]\s*("[^"]*"|[^",{}[\]]*),?$/i,
      },
    ],
    why: 'Deploying runs commands and sends things to the place that it names.',
    source: 'documentation of the tools',
  },
  {
    id: 'infra-ansible',
    family: 'infrastructure',
    trigger: 'ansible or vagrant here',
    severity: 'suspect',
    paths: [
      'inventory*',
      'hosts{,.y{,a}ml}',
      '{playbooks,molecule}/**/*.y{,a}ml',
      'roles/**',
      '/{tasks,handlers}/**/*.y{,a}ml',
      '/plugins/{action,become,cache,callback,connection,filter,inventory,lookup,modules,module_utils,shell,strategy,test,vars}/**',
      'module_utils/*.py',
      'ansible-navigator.y{,a}ml',
      '*.sls',
      'Saltfile',
      'roster',
      'hiera.yaml',
      'lib/{facter,puppet}/**/*.rb',
      'bolt-project.y{,a}ml',
      '{,.}kitchen{,.*}.yml',
      'hosts.ini',
      '*_plugins/**',
      'library/*.py',
      'group_vars/**',
      'host_vars/**',
      'requirements.y{,a}ml',
      'galaxy.yml',
      'Vagrantfile',
      'molecule.yml',
      'playbook*.y{,a}ml',
      'site.y{,a}ml',
      'Puppetfile',
      '*.pp',
      'Berksfile',
      'metadata.rb',
      'cloud-init*',
      'user-data*',
      'Thorfile',
    ],
    judges: [
      { kind: 'code' },
      {
        kind: 'lines',
        danger:
          /plugins|library|inventory|lookup\(|pipe|vault|ssh_args|host_key|src:|source|url|shell:|command:|raw:|script:|exec|ansible_\w*(interpreter|connection|host|user|become)|provision|trigger|runcmd|bootcmd|system\(|`|action:|delegate_to|connection:|<%/i,
      },
      { kind: 'new' },
    ],
    why: 'It runs plugins, scripts and commands, on this machine and others.',
    source: 'Ansible and Vagrant documentation',
  },
  {
    id: 'infra-ansible-config',
    family: 'infrastructure',
    trigger: 'any ansible command here',
    severity: 'suspect',
    paths: ['ansible.cfg', '.ansible.cfg'],
    judges: [
      { kind: 'lines', danger: /^[^#;[]/, safe: /^(forks|timeout|nocows|display_\w+|show_\w+|gather_timeout)\s*=/ },
    ],
    why: 'It names folders of plugins, interpreters and programs that ansible loads.',
    source: 'Ansible configuration settings',
  },
  {
    id: 'infra-server',
    family: 'infrastructure',
    trigger: 'deploying or copying it by hand',
    severity: 'suspect',
    paths: [
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
    ],
    judges: [
      {
        kind: 'lines',
        danger:
          /load_module|perl_|lua_|exec|Exec|ProgramArguments|program|command|auto_(pre|ap)pend|extension\s*=|LoadModule|SetHandler|AddHandler|php_value|RewriteRule|proxy_pass|root\s|alias\s|include|plugin|init-command|loadmodule|script|NOPASSWD|ALL\s*=|trust|PermitRoot|allow|cgi|hook|\* \* \*|^[\d*@].*\s\/|postrotate|on-(start|stop)|handlers|\bRUN\b|archive_command|shared_preload|^(User|Group|Environment(File)?|AmbientCapabilities|LoadCredential)=|^<string>(\/|-\w<|(ba|z|da)?sh<)/i,
        safe: /^\s*(listen|port|Name)\b[^;{}]*;?$/i,
      },
    ],
    why: 'A service runs what it names, with rights of its own.',
    source: 'manuals of the servers',
  },
];

const KUBERNETES_KEYS =
  /(^|[.\]])(subjects|roleRef|verbs|components|newName|hostPort|externalIPs|automountServiceAccountToken)(\.|\[|$)/;

/** What a list in a manifest gained: a line of it says little by itself. Templates, which do not parse, are left to lines. */
function kubernetesObjects({ path, before = '', after = '' }: JudgedText): string[] {
  const now = readStructure(after, 'yaml', path);
  const old = readStructure(before, 'yaml', path);
  if (now === undefined || old === undefined || before === '') return [];
  return newLeaves(old.leaves, now.leaves)
    .filter(({ key, value }) => KUBERNETES_KEYS.test(key) || (/resources\[\]$/.test(key) && value === '*'))
    .map(({ key, value }) => `${key}: ${value.slice(0, 120)}`);
}

/** An image from another registry or name: a new tag alone says nothing. */
function imageMoved({ before = '', after = '' }: { before: string | undefined; after: string | undefined }): string[] {
  const names = (text: string): Set<string> =>
    new Set([...text.matchAll(/^\s*image:\s*["']?([\w./-]+)/gm)].map((match) => match[1] as string));
  const had = names(before);
  return before === '' ? [] : [...names(after)].filter((name) => !had.has(name)).map((name) => `image ${name}`);
}

/** Another command counts where the file gives a container something of the host: without it, it is the image's matter. */
function commandBesideHost({ after = '', added }: JudgedText): string[] {
  if (
    !/privileged|volumes|network_mode|\b(pid|ipc)\s*:|devices|cap_add|docker\.sock|env_file|configs|secrets/i.test(
      after,
    )
  )
    return [];
  return added()
    .filter(({ text }) => /\b(command|entrypoint|test)["']?\s*:/.test(text.slice(0, 4000)))
    .map(({ text }) => text.slice(0, 120));
}
