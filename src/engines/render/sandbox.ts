import type { Pod, PodSpec } from './pod.ts';

/**
 * A Sandbox of kubernetes-sigs/agent-sandbox, as far as it is used. Written from its API reference (v1beta1): no controller
 * has read one.
 */
export interface Sandbox {
  readonly apiVersion: 'agents.x-k8s.io/v1beta1';
  readonly kind: 'Sandbox';
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
  readonly spec: {
    readonly podTemplate: {
      readonly metadata: {
        readonly labels: Readonly<Record<string, string>>;
        readonly annotations: Readonly<Record<string, string>>;
      };
      readonly spec: PodSpec;
    };
    /** No Service: nothing connects to the pod. */
    readonly service: false;
    /** Until the session's end is collected, whatever time was set. */
    readonly shutdownPolicy: 'Retain';
  };
}

/** The pod in a Sandbox of its name. */
export function sandboxOf({ metadata: { name, labels, annotations = {} }, spec }: Pod): Sandbox {
  return {
    apiVersion: 'agents.x-k8s.io/v1beta1',
    kind: 'Sandbox',
    metadata: { name, labels },
    spec: { podTemplate: { metadata: { labels, annotations }, spec }, service: false, shutdownPolicy: 'Retain' },
  };
}
