export { connectMemberOverHttp } from "./connect-member.ts";
