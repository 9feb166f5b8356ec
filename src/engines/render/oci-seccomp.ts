/** A rule of the profile as engines read it. */
interface EngineRule {
  readonly names: readonly string[];
  readonly action: string;
  readonly errnoRet?: number;
  readonly args?: readonly { readonly index: number; readonly value: number; readonly valueTwo?: number; op: string }[];
}

interface EngineProfile {
  readonly defaultAction: string;
  readonly defaultErrnoRet?: number;
  readonly archMap?: readonly { readonly architecture: string; readonly subArchitectures?: readonly string[] }[];
  readonly syscalls: readonly EngineRule[];
}

/** linux.seccomp of the OCI runtime specification. */
export interface OciSeccomp {
  readonly defaultAction: string;
  readonly defaultErrnoRet?: number;
  readonly architectures: readonly string[];
  readonly syscalls: readonly EngineRule[];
}

/** Architectures as engines name them, and as libseccomp does. */
const ARCHITECTURES: Readonly<Record<string, string>> = {
  amd64: 'SCMP_ARCH_X86_64',
  arm64: 'SCMP_ARCH_AARCH64',
  x86_64: 'SCMP_ARCH_X86_64',
  aarch64: 'SCMP_ARCH_AARCH64',
};

const RULE_KEYS: readonly string[] = ['names', 'action', 'errnoRet', 'args'];

/**
 * The engine's form of a profile as the OCI specification has it. Engines choose the architecture from a map, and rules by
 * capabilities and kernel versions; run-claude's profile has no such rule.
 *
 * @throws {Error} for a rule with a condition that would be lost
 */
export function ociSeccomp(profileText: string, arch: string): OciSeccomp {
  const profile = JSON.parse(profileText) as EngineProfile;
  const architecture = ARCHITECTURES[arch];
  const own = (profile.archMap ?? []).find((one) => one.architecture === architecture);
  if (architecture === undefined || own === undefined) throw new Error(`the seccomp profile has no ${arch}`);
  for (const rule of profile.syscalls) {
    const other = Object.keys(rule).find((key) => !RULE_KEYS.includes(key));
    if (other !== undefined) throw new Error(`the seccomp profile has a rule with ${other}`);
  }
  return {
    defaultAction: profile.defaultAction,
    ...(profile.defaultErrnoRet === undefined ? {} : { defaultErrnoRet: profile.defaultErrnoRet }),
    architectures: [architecture, ...(own.subArchitectures ?? [])],
    syscalls: profile.syscalls,
  };
}
