/**
 * What can be run in a simulated pod. No process runs there, so a few commands are played: enough to see that bytes pass both ways,
 * that standard error is apart, and that exit codes arrive. Pure: what a command writes is a function of what it was sent.
 */

export interface Output {
  readonly out: string | Uint8Array;
  readonly err: string;
  /** Undefined: it goes on. */
  readonly exit: number | undefined;
}

/** A command that runs: what it writes at its start, after input, and at the end of input. */
export interface Program {
  start(): Output;
  input(bytes: Uint8Array): Output;
  inputEnded(): Output;
}

export interface Place {
  readonly pod: string;
  readonly namespace: string;
  readonly container: string;
  readonly hasTty: boolean;
}

const NOTHING: Output = { out: "", err: "", exit: undefined };
const KNOWN = "cat, echo, env, false, hostname, sh, true";
const MAX_LINE_LENGTH = 4096;
const decoder = new TextDecoder();

/** What runs when a command is executed in a container. */
export function programOf([name = "", ...args]: readonly string[], place: Place): Program {
  if (name === "cat" && args.length === 0) return copying("");
  if (name === "sh" && args.length === 0) return shell(place);
  if (name === "sh" && args[0] === "-c") return atOnce(lineRun(args[1] ?? "", place));
  return atOnce(run(name, args, place));
}

/** What a client is attached to: the container's own process, which repeats what it is sent. */
export function attachedProgram({ namespace, pod, container }: Place): Program {
  const greeting = `attached to the simulated container ${container} of ${namespace}/${pod}: it repeats its input\n`;
  return copying(greeting);
}

function copying(greeting: string): Program {
  return {
    start: () => ({ ...NOTHING, out: greeting }),
    input: (bytes) => ({ ...NOTHING, out: bytes }),
    inputEnded: () => ({ ...NOTHING, exit: 0 }),
  };
}

function atOnce(output: Output): Program {
  return { start: () => output, input: () => NOTHING, inputEnded: () => NOTHING };
}

function run(name: string, args: readonly string[], place: Place): Output {
  const { pod, namespace, container } = place;
  switch (name) {
    case "true":
      return { ...NOTHING, exit: 0 };
    case "false":
      return { ...NOTHING, exit: 1 };
    case "echo":
      return { ...NOTHING, out: `${args.join(" ")}\n`, exit: 0 };
    case "hostname":
      return { ...NOTHING, out: `${pod}\n`, exit: 0 };
    case "env": {
      const lines = [`HOSTNAME=${pod}`, `POD_NAMESPACE=${namespace}`, `CONTAINER=${container}`];
      return { ...NOTHING, out: `${lines.join("\n")}\n`, exit: 0 };
    }
    default: {
      const err = `${name}: not found: no process runs in a simulated pod, which knows ${KNOWN}\n`;
      return { ...NOTHING, err, exit: 127 };
    }
  }
}

/** One line of the shell; `exit N` answers N as its exit code. */
function lineRun(line: string, place: Place): Output {
  const [name = "", ...args] = line.trim().split(/\s+/);
  if (name === "") return { ...NOTHING, exit: 0 };
  if (name !== "exit") return run(name, args, place);
  const code = Number(args[0] ?? "0");
  return { ...NOTHING, exit: Number.isInteger(code) ? code & 255 : 2 };
}

function shell(place: Place): Program {
  const prompt = place.hasTty ? "$ " : "";
  const newline = place.hasTty ? "\r\n" : "\n";
  let pending = "";
  let last = 0;
  const step = (text: string): Output => {
    pending = (pending + text).slice(-MAX_LINE_LENGTH);
    const lines = pending.split(/\r\n|\r|\n/);
    pending = lines.pop() ?? "";
    let out = place.hasTty ? text.replace(/\r\n|\r|\n/g, newline) : "";
    let err = "";
    for (const line of lines) {
      const { exit = 0, ...written } = lineRun(line, place);
      out += String(written.out).replaceAll("\n", newline);
      err += written.err.replaceAll("\n", newline);
      last = exit;
      if (/^\s*exit(\s|$)/.test(line)) return { out, err, exit };
      out += prompt;
    }
    return { out, err, exit: undefined };
  };
  return {
    start: () => ({ ...NOTHING, out: prompt }),
    input: (bytes) => {
      const text = decoder.decode(bytes);
      // Ctrl-D, as a terminal sends it.
      return place.hasTty && text.includes("\u0004") ? { ...NOTHING, exit: last } : step(text);
    },
    inputEnded: () => {
      const output = pending === "" ? NOTHING : step("\n");
      return { ...output, exit: output.exit ?? last };
    },
  };
}
