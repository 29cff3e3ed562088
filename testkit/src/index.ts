export { configMap, deployment, namespace, newObject, resources, widgetCrd } from "./objects.ts";
export { createWorld, type World, type WorldOptions } from "./world.ts";
export { refusalOf } from "./refusal.ts";
export {
  type ConfigMap,
  configMaps,
  createMirror,
  driveOriginals,
  expectedContent,
  type Mirror,
  readContent,
} from "./mirror-controller.ts";
export { createFleet, type Fleet, type FleetMember, type FleetOptions } from "./fleet.ts";
export { newCluster, newClusterSecret, newNamespace } from "./fleet-objects.ts";
export { type Link, linked, type LinkFault, openLink } from "./link.ts";
export { flinkCrd, flinkDeployment, flinkDeployments, statefulSet } from "./stateful-objects.ts";
export { conditionOf, oneOf, placementText, reasonsAbout } from "./failover-reading.ts";
export { bundleProgram } from "./bundle-program.ts";
export { storedConfigMap } from "./stored-object.ts";
export { wrapped } from "./wrapped-client.ts";
export {
  createPaperSigner,
  type PaperCertificate,
  paperRequest,
  readPaperCertificate,
} from "./paper-signer.ts";
export { type FleetAgent, type FleetAgentOptions, startAgent } from "./agents.ts";
export {
  assignPods,
  giveAddress,
  type GlobalExample,
  podsOf,
  putGlobalExample,
  reportReady,
} from "./global-names.ts";
