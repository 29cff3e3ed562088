export { createFederatedObjects } from "./objects/create-federated-objects.ts";
