import { anyOf, words } from '../../formats/words.ts';
import type { HarmlessKeys, HarmlessTable } from '../../judges/harmless-keys.ts';

/** A key of an object may be at the top, in the pods that it makes, or in an item of a list. */
const anywhere = (keys: readonly string[]): string[] => keys.map((key) => `{,***.}${key}`);

/** What a pod, its network and its storage may have without getting a right, a program or a file of the host. */
export const MANIFEST: HarmlessKeys = {
  switch: anywhere(words`
    replicas {min,max}Replicas minReadySeconds revisionHistoryLimit progressDeadlineSeconds backoffLimit completions parallelism
    activeDeadlineSeconds ttlSecondsAfterFinished terminationGracePeriodSeconds {successful,failed}JobsHistoryLimit suspend
    startingDeadlineSeconds {initialDelay,period,timeout,stabilizationWindow}Seconds {success,failure}Threshold
    {liveness,readiness,startup}Probe.{httpGet,tcpSocket,grpc}.port {requests,limits}.{cpu,memory,ephemeral-storage,storage}
    rollingUpdate.{maxSurge,maxUnavailable,partition} {max,min}{Unavailable,Available} averageUtilization averageValue weight
    ports.{port,targetPort,containerPort} volumeMounts.readOnly optional {configMap,secret}.optional immutable
    spec.template.spec.enableServiceLinks
  `),
  word: anywhere(words`
    metadata.{name,namespace,generateName} metadata.labels{,.***} matchLabels{,.***} spec.selector{,.***} nodeSelector{,.***}
    metadata.annotations.app.kubernetes.io/* namespace containers.name initContainers.name ports.{name,protocol,targetPort}
    imagePullPolicy restartPolicy strategy.type updateStrategy.type concurrencyPolicy podManagementPolicy sessionAffinity
    topologyKey whenUnsatisfiable volumes.name volumeMounts.name configMap.name configMapKeyRef.{name,key} claimName
    accessModes storageClassName volumeMode scaleTargetRef.{apiVersion,kind,name} target.type resource.name
    resources.{requests,limits}.* scheme serviceName ingressClassName policyTypes
  `),
  text: anywhere(words`metadata.annotations.{description,kubernetes.io/description}`),
  // Each may be named as one of those above.
  never: anywhere(words`
    ***securityContext.*** ***hostPath.*** ***lifecycle.*** ***exec.*** roleRef.*** subjects.*** rules.***
  `),
};

const KINDS = words`
  Deployment StatefulSet DaemonSet ReplicaSet Pod Job CronJob Service ConfigMap Namespace PersistentVolumeClaim
  HorizontalPodAutoscaler PodDisruptionBudget NetworkPolicy List
`.join('|');
const PROGRAMS =
  /LD_|DYLD_|NODE_|NPM_|PYTHON|PIP_|JAVA|JDK_|_JAVA|RUBY|PERL|BASH_|GIT_|SSH_|PHP|LUA_|GCONV|PATH$|ENV$|SHELL$|.*(PROXY|_OPTS|_OPTIONS|_ARGS|COMMAND|_CMD)$/
    .source;
/** Kinds of objects that run in their own namespace, images, and variables with plain values. */
export const MANIFEST_SAFE = anyOf(
  new RegExp(`^(.*\\.)?kind=(${KINDS})$`),
  /^(.*\.)?apiVersion=(v1|(apps|batch|autoscaling|policy|networking\.k8s\.io)\/v\d\w*)$/,
  /^(.*\.)?image=[\w./-]+(:[\w.-]+)?(@sha256:[0-9a-f]{64})?$/,
  new RegExp(`^(.*\\.)?env\\[\\]\\.name=(?!(${PROGRAMS}))[A-Z][A-Z0-9_]*$`),
  /^(.*\.)?env\[\]\.value=(\w[\w.:-]*)?$/,
  // Data under a name that is not a file.
  /^([^.]*\.)?data\.(?![^=]*\.)[\w-]+=(true|false|\d[\w.]*|[A-Za-z][\w-]*)$/,
  /^(.*\.)?schedule=[\d*/, -]+$/,
  /^(.*\.)?(httpGet\.path|pathType|paths\[\]\.path)=\/?[\w./-]*$/,
  /^(.*\.)?spec\.type=(ClusterIP|ExternalName)$/,
);

/** What a chart says of itself, and versions of the charts that it depends on. Their repositories are not plain. */
const CHART: HarmlessTable = {
  files: ['Chart.y{,a}ml'],
  format: 'yaml',
  harmless: {
    word: words`apiVersion name type dependencies.{name,alias,condition,tags}`,
    words: ['keywords'],
    version: words`version appVersion kubeVersion dependencies.version`,
    switch: words`deprecated dependencies.enabled`,
    text: words`description annotations.{category,licenses,description} maintainers.name`,
    url: words`home icon sources maintainers.url`,
    matching: /^maintainers\[\]\.email=[\w.+-]+@[\w.-]+$/,
  },
};

/** Versions of images, names and numbers. Generators, transformers, plugins, charts, patches and components are not plain. */
const KUSTOMIZATION: HarmlessTable = {
  files: ['kustomization.y{,a}ml'],
  format: 'yaml',
  harmless: {
    word: words`namespace namePrefix nameSuffix {commonLabels,labels.pairs}{,.***} images.name replicas.name`,
    switch: words`replicas.count labels.{includeSelectors,includeTemplates} buildMetadata`,
    matching: anyOf(
      /^apiVersion=kustomize\.config\.k8s\.io\/v\d\w*$|^kind=Kustomization$/,
      /^images\[\]\.(newTag=\w[\w.-]*|digest=sha256:[0-9a-f]{64})$/,
      // Files next to this one: each is judged by itself.
      /^(resources|bases)\[\]=(?!.*(\.\.|\/\/|\.(com|org|net|io|dev)\b))[\w./-]+$/,
    ),
  },
};

/** Amounts, tags and switches that charts have in common. Images, commands, rights and what a template pastes are not plain. */
const HELM_VALUES: HarmlessTable = {
  files: ['values*.y{,a}ml'],
  format: 'yaml',
  harmless: {
    switch: [
      ...anywhere(words`
        replicaCount replicas {min,max}Replicas resources.{requests,limits}.{cpu,memory,ephemeral-storage,storage}
        target{CPU,Memory}UtilizationPercentage {initialDelay,period,timeout}Seconds {success,failure}Threshold
        autoscaling.enabled metrics.enabled revisionHistoryLimit terminationGracePeriodSeconds
      `),
      ...words`{service,metrics}.port persistence.size`,
    ],
    word: [
      ...anywhere(words`image.tag pullPolicy imagePullPolicy podLabels{,.***} nodeSelector{,.***} logLevel`),
      ...words`nameOverride fullnameOverride`,
    ],
  },
};

/** Names and numbers. What is built, rendered, deployed and run, and every hook, is not plain. */
const SKAFFOLD: HarmlessTable = {
  files: ['skaffold.y{,a}ml'],
  format: 'yaml',
  harmless: {
    word: words`metadata.name metadata.labels{,.***} portForward.{resourceType,resourceName,namespace}`,
    switch: words`portForward.{port,localPort} build.local.{concurrency,useBuildkit} deploy.statusCheck{,DeadlineSeconds}`,
    matching: /^apiVersion=skaffold\/v\d\w*$|^kind=Config$/,
  },
};

/** One table for each tool that reads a file of a certain name. */
export const KUBERNETES_TOOLS: readonly HarmlessTable[] = [CHART, KUSTOMIZATION, HELM_VALUES, SKAFFOLD];
