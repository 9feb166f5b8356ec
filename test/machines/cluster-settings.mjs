/** Settings of the cluster: two nodes, and a login node that has the controller and the shared directory. */
export const LOGIN_ADDRESS = '10.0.2.2';
/** Next to the runtime that a node has, the other one is removed. */
export const NODES = [
  { name: 'node1', address: '10.0.2.11', mac: '52:54:00:12:34:01', runtime: 'runc', removed: 'crun' },
  { name: 'node2', address: '10.0.2.12', mac: '52:54:00:12:34:02', runtime: 'crun', removed: 'runc' },
];
export const NODE_MEMORY_MB = 3500;
export const SCRATCH = '/var/tmp';
export const SHARED = '/shared/dev';

const nodeLines = NODES.map(
  ({ name, address }) => `NodeName=${name} NodeAddr=${address} CPUs=2 RealMemory=${NODE_MEMORY_MB - 300} State=UNKNOWN
PartitionName=${name} Nodes=${name} MaxTime=120 State=UP`,
);

/** Timeouts are long: an emulated node answers late. */
const SLURM = `ClusterName=lab
SlurmctldHost=login(${LOGIN_ADDRESS})
SlurmUser=slurm
AuthType=auth/munge
ProctrackType=proctrack/cgroup
TaskPlugin=task/cgroup
JobAcctGatherType=jobacct_gather/cgroup
MpiDefault=none
ReturnToService=2
SlurmctldPidFile=/run/slurmctld.pid
SlurmdSpoolDir=/var/spool/slurmd
StateSaveLocation=/var/spool/slurmctld
SlurmctldLogFile=/var/log/slurm/slurmctld.log
SlurmdLogFile=/var/log/slurm/slurmd.log
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
MessageTimeout=60
SlurmdTimeout=60
KillWait=30
${nodeLines.join('\n')}
PartitionName=short Nodes=${NODES.map(({ name }) => name).join(',')} Default=YES MaxTime=120 State=UP
`;

const CGROUP = `CgroupPlugin=cgroup/v2
ConstrainRAMSpace=yes
ConstrainSwapSpace=yes
AllowedSwapSpace=0
ConstrainCores=yes
`;

const GANESHA = `NFS_CORE_PARAM {
  Protocols = 4; Enable_NLM = false; Enable_RQUOTA = false; Enable_UDP = false; allow_set_io_flusher_fail = true;
}
NFSV4 { Graceless = true; Minor_Versions = 1, 2; Only_Numeric_Owners = true; }
EXPORT {
  Export_Id = 1; Path = /shared; Pseudo = /shared; Access_Type = RW; Squash = Root_Squash; SecType = sys;
  FSAL { Name = VFS; }
}
`;

const FILES = `mkdir -p /etc/slurm /var/log/slurm
cat >/etc/slurm/slurm.conf <<'END'
${SLURM}END
cat >/etc/slurm/cgroup.conf <<'END'
${CGROUP}END`;

/** What run-claude has in its settings: one layer is given up, which a job never has. */
const CONFIG = `memory = "1g"
[slurm]
directory = "${SHARED}"
scratch = "${SCRATCH}"
patience = 30
without-layer = ["gateway-network"]
`;

/** Runs on the login node, as root. @param {number} socketGroup of Docker's socket */
export const loginScript = (socketGroup) => `${FILES}
install -d -o munge -g munge /run/munge
runuser -u munge -- /usr/sbin/munged
install -d -o slurm -g slurm /var/spool/slurmctld /var/log/slurm
slurmctld
cat >/etc/ganesha/ganesha.conf <<'END'
${GANESHA}END
mkdir -p /var/lib/nfs/ganesha /run/ganesha
ln -sf /proc/self/mounts /etc/mtab
ganesha.nfsd -f /etc/ganesha/ganesha.conf -L /var/log/ganesha.log -p /run/ganesha.pid
for _ in $(seq 50); do ! ss -ltn | grep -q :2049 && ! grep 'Could not create export' /var/log/ganesha.log || break; sleep 0.2; done
ss -ltn | grep -q :2049 && ! grep 'Could not create export' /var/log/ganesha.log || { tail -n 5 /var/log/ganesha.log; exit 1; }
install -d -o dev -g dev -m 700 ${SHARED}
groupmod -o -g ${socketGroup} docker 2>/dev/null || groupadd -o -g ${socketGroup} docker
usermod -aG docker dev
install -m 755 /mnt/supplies/node /usr/local/bin/node
mkdir -p /opt/run-claude /usr/local/share/ca-certificates
tar -xzf /mnt/supplies/run-claude.tgz -C /opt/run-claude --strip-components=1
printf '#!/bin/sh\\nexec node /opt/run-claude/dist/main.js "$@"\\n' >/usr/local/bin/run-claude
chmod 755 /usr/local/bin/run-claude
cp /mnt/supplies/ca/*.crt /usr/local/share/ca-certificates/ 2>/dev/null || true
install -d -o dev -g dev /home/dev/.config /home/dev/.config/run-claude /home/dev/project
cat >/home/dev/.config/run-claude/config.toml <<'END'
${CONFIG}END
chown dev:dev /home/dev/.config/run-claude/config.toml
for i in 1 2 3; do echo $i >/home/dev/project/file-$i; chown dev:dev /home/dev/project/file-$i; done`;

/** Runs on a node, as root. @param {{ removed: string }} node */
export const nodeScript = ({ removed }) => `date -s @${Math.floor(Date.now() / 1000)}
${FILES}
rm -f /usr/sbin/${removed} /usr/bin/${removed}
fallocate -l 1G /swap; chmod 600 /swap; mkswap -q /swap; swapon /swap
mkdir -p /shared
mount -t nfs4 -o vers=4.2,nosuid,nodev ${LOGIN_ADDRESS}:/shared /shared
systemctl start munge
systemctl start slurmd || { journalctl -u slurmd -n 20 --no-pager -o cat; exit 1; }`;
