export { nodeOfferOf, type NodeOffer, type PodClaim, podClaimOf } from "./claims.ts";
export { type NodeSummary, type ResourceModels, type ResourceSummary, Room } from "./room.ts";
