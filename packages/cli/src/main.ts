/**
 * The `lifeboat` command. One file per verb in commands/; this one knows which there are and how they end: exit code 0
 * for done, 2 for a call that was wrong, 1 for one that could not be carried out.
 */
import { BackupRefused, DirectoryRefused, fileProblem } from "@lifeboat/apiserver/adapters";
import { Command } from "commander";
import { addAdopt } from "./commands/adopt.ts";
import { addAgent } from "./commands/agent.ts";
import { addBackup } from "./commands/backup.ts";
import { addBrake } from "./commands/brake.ts";
import { addCerts } from "./commands/certs.ts";
import { addCompletion } from "./commands/completion.ts";
import { addCordon, addUncordon } from "./commands/cordon.ts";
import { addDescribe } from "./commands/describe.ts";
import { addDemo } from "./commands/demo.ts";
import { addDetector } from "./commands/detector.ts";
import { addDns } from "./commands/dns.ts";
import { addDrain } from "./commands/drain.ts";
import { addEvacuations } from "./commands/evacuations.ts";
import { addExec } from "./commands/exec.ts";
import { addExplain } from "./commands/explain.ts";
import { addFailback } from "./commands/failback.ts";
import { addFence } from "./commands/fence.ts";
import { addGateway } from "./commands/gateway.ts";
import { addGet } from "./commands/get.ts";
import { addHistory } from "./commands/history.ts";
import { addInstall, addUninstall } from "./commands/install.ts";
import { addJoin } from "./commands/join.ts";
import { addLogs } from "./commands/logs.ts";
import { addManager } from "./commands/manager.ts";
import { addMember } from "./commands/member.ts";
import { addMembers } from "./commands/members.ts";
import { addNotifications } from "./commands/notifications.ts";
import { addPlan } from "./commands/plan.ts";
import { addPolicy } from "./commands/policy.ts";
import { addMigrate } from "./commands/migrate.ts";
import { addRegister } from "./commands/register.ts";
import { addRemedy } from "./commands/remedy.ts";
import { addRestore } from "./commands/restore.ts";
import { addSimulate } from "./commands/simulate.ts";
import { addStatefulSet } from "./commands/statefulset.ts";
import { addStatus } from "./commands/status.ts";
import { addTaint } from "./commands/taint.ts";
import { addTop } from "./commands/top.ts";
import { addToken } from "./commands/token.ts";
import { addTraffic } from "./commands/traffic.ts";
import { addUnjoin } from "./commands/unjoin.ts";
import { addUnregister } from "./commands/unregister.ts";
import { addUp } from "./commands/up.ts";
import { addUsers } from "./commands/users.ts";
import { addVersion } from "./commands/version.ts";
import { addWatch } from "./commands/watch.ts";
import { isKubectlPlugin } from "./environment.ts";
import { apiProblem } from "./find-plane.ts";
import { helpFormat } from "./help.ts";
import { report } from "./report.ts";
import { tell } from "./tell.ts";
import { version } from "./version.ts";

/** The whole command with its verbs. */
export function createProgram(): Command {
  const program = new Command(isKubectlPlugin(process.argv) ? "kubectl lifeboat" : "lifeboat")
    .description("Keeps workloads alive when whole Kubernetes clusters fail.")
    .version(version, "-V, --version", "Print the version")
    .helpOption("-h, --help", "Print help")
    .helpCommand("help [command]", "Print help for a command")
    .configureHelp(helpFormat)
    .configureOutput({ outputError: (text) => tell(text.trimEnd(), "") })
    .showHelpAfterError("(try --help)")
    .exitOverride();
  addUp(program);
  addInstall(program);
  addManager(program);
  addUninstall(program);
  addDemo(program);
  addJoin(program);
  addUnjoin(program);
  addToken(program);
  addRegister(program);
  addUnregister(program);
  addUsers(program);
  addGet(program);
  addDescribe(program);
  addTop(program);
  addLogs(program);
  addExec(program);
  addStatus(program);
  addWatch(program);
  addHistory(program);
  addNotifications(program);
  addExplain(program);
  addSimulate(program);
  addPlan(program);
  addPolicy(program);
  addTaint(program);
  addCordon(program);
  addUncordon(program);
  addDrain(program);
  addFence(program);
  addStatefulSet(program);
  addEvacuations(program);
  addFailback(program);
  addBrake(program);
  addRemedy(program);
  addTraffic(program);
  addDns(program);
  addCerts(program);
  addBackup(program);
  addRestore(program);
  addMigrate(program);
  addAdopt(program);
  addMember(program);
  addMembers(program);
  addAgent(program);
  addDetector(program);
  addGateway(program);
  addVersion(program);
  addCompletion(program);
  return program;
}

/** What serves until it is stopped: it goes on when nothing reads its output any more. */
const SERVERS: ReadonlySet<string> = new Set([
  "up",
  "manager",
  "members",
  "detector",
  "gateway",
  "dns serve",
]);

export async function main(args: readonly string[]): Promise<void> {
  const program = createProgram();
  const serves = SERVERS.has(args[0] ?? "") || SERVERS.has(args.slice(0, 2).join(" "));
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    // `lifeboat get clusters | head -1`: the reader has what it wanted.
    if (!serves) process.exit();
  });
  try {
    await program.parseAsync(args, { from: "user" });
  } catch (error) {
    process.exitCode = report(error, sentenceOf);
  }
}

/** What went wrong outside of the program, in words; undefined: it is a bug. */
function sentenceOf(error: unknown): string | undefined {
  const isSentence = error instanceof DirectoryRefused || error instanceof BackupRefused;
  return isSentence ? error.message : (apiProblem(error) ?? fileProblem(error));
}
