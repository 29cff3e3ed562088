export type { FaultScope, MemberFault } from "./fault.ts";
export { createMemberModel, createNodeModel, type MemberModel } from "./member-model.ts";
export { MEMBER_DEFAULTS, type MemberOptions } from "./member-options.ts";
export type { NodeOptions } from "./model/node.ts";
