import { newLeaves, readStructure } from '../../formats/structured.ts';
import { anyOf } from '../../formats/words.ts';
import { judge } from '../../judges/judge.ts';
import { type JudgedText, type Look, not, type Rule } from '../../judges/rule.ts';
import { KUBERNETES_TOOLS, MANIFEST, MANIFEST_SAFE } from './plain-kubernetes.ts';

/** Guards whose deletion allows more. */
const GUARDS: Look = {
  kind: 'lines',
  removed: anyOf(
    /runAsNonRoot:\s*true|readOnlyRootFilesystem:\s*true|allowPrivilegeEscalation:\s*false|seccompProfile/,
    /kind:\s*(NetworkPolicy|PodSecurityPolicy|ResourceQuota|LimitRange|ValidatingAdmissionPolicy\w*)/,
    /^-\s+ALL$/,
  ),
};

export const kubernetesRules: readonly Rule[] = [
  {
    id: 'infra-kubernetes-tools',
    family: 'infrastructure',
    when: 'helm install, kubectl apply -k, skaffold dev',
    severity: 'suspect',
    files: KUBERNETES_TOOLS.flatMap(({ files }) => files),
    look: [...KUBERNETES_TOOLS.map((table): Look => ({ kind: 'settings', ...table, format: 'yaml' })), GUARDS],
    why: 'It names what is rendered, built and deployed, and programs that the tool starts for it.',
    source: 'Helm: Charts and Values Files; Kustomize: kustomization file; skaffold.yaml reference',
  },
  {
    id: 'infra-kubernetes',
    family: 'infrastructure',
    when: 'kubectl apply, helm upgrade, tilt up, skaffold dev',
    severity: 'suspect',
    files: [
      '{k8s,kubernetes,manifests,deploy,deployment,helm,charts,kustomize,overlays}/**/*.y{,a}ml',
      'helmfile.y{,a}ml',
      'helmfile.d/*.y{,a}ml{,.gotmpl}',
      'devspace.yaml',
      'garden.y{,a}ml',
      'okteto.y{,a}ml',
      'werf.yaml',
      'templates/**/*.{yaml,yml,tpl}',
      'argocd/**',
      'Tiltfile',
      'draft.toml',
      'kapp*.yml',
      '{kind,k3d}{,-*,_*,.*}.y{a,}ml',
      ...not(KUBERNETES_TOOLS.flatMap(({ files }) => files)),
    ],
    look: [
      { kind: 'custom', see: manifestSettings },
      GUARDS,
      { kind: 'custom', see: kubernetesObjects },
      { kind: 'custom', see: imageMoved },
      {
        kind: 'lines',
        danger: anyOf(
          /hostPath|hostNetwork|hostPID|hostIPC|privileged|capabilities|runAsUser:\s*0|allowPrivilege/i,
          /serviceAccount|ClusterRole|verbs:|resources:\s*\["?\*|image:|repository:|helm\.sh\/hook|hooks?:|local\(/i,
          /local_resource|exec|command:|args:|https?:|bases:|remote|lifecycle|initContainers|secretKeyRef/i,
          /postRender|registry|newName:|components:|pipelines:|deploy:|shell:|beforeInstall/i,
          /^(dev|build|test|run):\s*[|>]|runAsNonRoot:\s*false|hostPort|externalIPs/i,
          /^[\w.-]+\.(sh|bash|py|rb|js|pl|lua)["']?:\s*\S|^-\s+(sh|bash)\s/i,
          /(generators|transformers|validators|helmCharts|openapi|plugin\w*):/i,
        ),
        harmless: /^-?\s*image:\s*["']?[\w./-]+(:[\w.-]+)?(@sha256:[0-9a-f]{64})?["']?$/,
      },
    ],
    why: 'Pods get host folders or rights, or images from another registry.',
    source: 'Kubernetes Pod Security Standards; documentation of the tools',
  },
];

const SETTINGS: Look = { kind: 'settings', format: 'yaml', harmless: { ...MANIFEST, matching: MANIFEST_SAFE } };

/** What is not plain in an object that kubectl takes. Templates and files of other tools are judged by their lines. */
function manifestSettings(text: JudgedText): readonly string[] {
  if (/(^|\/)templates\//i.test(text.path) || !/\.ya?ml$/i.test(text.path)) return [];
  const isManifest = [text.before, text.after].some((one) => one !== undefined && OBJECT.every((key) => key.test(one)));
  return isManifest ? judge({ look: [SETTINGS] }, text) : [];
}

const OBJECT = [/^["']?(- )?apiVersion["']?[ \t]*:/m, /^["']?(- )?kind["']?[ \t]*:/m];

const KUBERNETES_KEYS =
  /(^|[.\]])(subjects|roleRef|verbs|components|newName|hostPort|externalIPs|automountServiceAccountToken)(\.|\[|$)/;

/**
 * New items of lists in a manifest, whose lines mean little alone. Templates do not parse: the lines judge covers
 * them.
 */
function kubernetesObjects({ path, before = '', after = '' }: JudgedText): string[] {
  const now = readStructure(after, 'yaml', path);
  const old = readStructure(before, 'yaml', path);
  if (now === undefined || old === undefined || before === '') return [];
  return newLeaves(old.leaves, now.leaves)
    .filter(({ key, value }) => KUBERNETES_KEYS.test(key) || (/resources\[\]$/.test(key) && value === '*'))
    .map(({ key, value }) => `${key}: ${value.slice(0, 120)}`);
}

/** Images from another registry or of another name; a new tag alone does not count. */
export function imageMoved({ before = '', after = '' }: JudgedText): string[] {
  const names = (text: string): Set<string> =>
    new Set(
      [...text.matchAll(/^[^\S\r\n\u2028\u2029]*(["']?)image\1[^\S\r\n\u2028\u2029]{0,100}:\s*["']?([\w./-]+)/gm)].map(
        (match) => match[2] as string,
      ),
    );
  const had = names(before);
  return before === '' ? [] : [...names(after)].filter((name) => !had.has(name)).map((name) => `image ${name}`);
}
