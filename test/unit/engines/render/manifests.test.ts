import { readFileSync } from 'node:fs';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import { RuntimeClass } from 'kubernetes-models/node.k8s.io/v1/RuntimeClass';
import { Role } from 'kubernetes-models/rbac.authorization.k8s.io/v1/Role';
import { RoleBinding } from 'kubernetes-models/rbac.authorization.k8s.io/v1/RoleBinding';
import { LimitRange } from 'kubernetes-models/v1/LimitRange';
import { Namespace } from 'kubernetes-models/v1/Namespace';
import { ServiceAccount } from 'kubernetes-models/v1/ServiceAccount';
import { expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { RUNTIME_CLASS } from '../../../../src/engines/render/confine.ts';

const MODELS = { NetworkPolicy, RuntimeClass, Role, RoleBinding, LimitRange, Namespace, ServiceAccount };
type Manifest = { readonly kind: keyof typeof MODELS } & Record<string, unknown>;

const text = (name: string): string =>
  readFileSync(new URL(`../../../../deploy/kubernetes/${name}`, import.meta.url), 'utf8');
const manifests = ['namespace.yaml', 'runtime-class.yaml', 'user-role.yaml'].flatMap((name) =>
  parseAllDocuments(text(name)).map((document) => document.toJS() as Manifest),
);

it('the manifests of deploy/kubernetes are valid by the models of Kubernetes', () => {
  expect(manifests.map(({ kind }) => kind).sort()).toEqual(Object.keys(MODELS).sort());
  for (const manifest of manifests) {
    const Model = MODELS[manifest.kind] as new (value: object) => { validate(): void };
    expect(() => new Model(manifest).validate(), manifest.kind).not.toThrow();
    const wrong = { ...manifest, metadata: { name: 5 } };
    expect(() => new Model(wrong).validate(), manifest.kind).toThrow('metadata');
  }
});

it('RuntimeClass, handler and annotations have the names of the rendered pods, and a user can neither exec nor read secrets', () => {
  const runtimeClass = manifests.find(({ kind }) => kind === 'RuntimeClass');
  expect(runtimeClass).toMatchObject({ metadata: { name: RUNTIME_CLASS }, handler: RUNTIME_CLASS });
  expect(text('containerd.toml')).toContain(`runtimes.${RUNTIME_CLASS}]`);
  expect(text('containerd.toml')).toContain('pod_annotations = ["run-claude.*"]');
  expect(text('user-role.yaml').replaceAll(/^#.*$/gm, '')).not.toMatch(/exec|secrets|\*/);
});
