import type { PodForm } from '../../core/types/engine.ts';
import type { Tell } from '../../core/types/event.ts';
import type { LackedLayer } from '../../core/types/runtime.ts';
import type { ClusterApi } from './api.ts';
import type { ClusterAccess } from './kubeconfig.ts';
import type { ClusterTarget } from './target.ts';

/** What an engine over a cluster is opened with. */
export interface ClusterEngineOptions {
  readonly target: ClusterTarget;
  readonly access: ClusterAccess;
  readonly api: ClusterApi;
  /** The label value of this state directory's objects. */
  readonly owner: string;
  readonly form: PodForm;
  /** Reference with a digest, which the nodes pull. */
  readonly image: string;
  readonly storageClass: string | undefined;
  readonly sizeMb: number;
  readonly accessMode: string;
  readonly seccomp: string;
  /** What its pods lack. */
  readonly lacks: readonly LackedLayer[];
  /** How long a container waits for a sign of this process. */
  readonly patienceSeconds: number;
  /** How long init may take to prove the layers of a container that runs. */
  readonly proofSeconds: number;
  /** The cluster ends every pod after that. */
  readonly deadlineSeconds: number;
  readonly tell: Tell;
  readonly signal: AbortSignal | undefined;
}
