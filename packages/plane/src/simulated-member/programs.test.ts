import { describe, expect, it } from "vitest";
import { attachedProgram, type Output, programOf } from "./programs.ts";

const PLACE = { pod: "web-0", namespace: "shop", container: "web", hasTty: false };
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const textOf = ({ out }: Output): string =>
  typeof out === "string" ? out : new TextDecoder().decode(out);

describe("a command in a simulated pod", () => {
  it.each([
    [["true"], "", "", 0],
    [["false"], "", "", 1],
    [["echo", "a", "b"], "a b\n", "", 0],
    [["hostname"], "web-0\n", "", 0],
    [["env"], "HOSTNAME=web-0\nPOD_NAMESPACE=shop\nCONTAINER=web\n", "", 0],
    [["sh", "-c", "echo hi"], "hi\n", "", 0],
    [["sh", "-c", "exit 9"], "", "", 9],
    [["sh", "-c", ""], "", "", 0],
    [["reboot"], "", expect.stringMatching(/^reboot: not found: no process runs/), 127],
  ])("%j ends at once", (command, out, err, exit) => {
    const output = programOf(command, PLACE).start();
    expect({ ...output, out: textOf(output) }).toEqual({ out, err, exit });
  });

  it("cat repeats its input until that ends", () => {
    const program = programOf(["cat"], PLACE);
    expect(program.start().exit).toBeUndefined();
    expect(textOf(program.input(bytes("abc")))).toBe("abc");
    expect(program.inputEnded().exit).toBe(0);
  });

  it("sh runs lines, in whatever pieces they arrive", () => {
    const program = programOf(["sh"], PLACE);
    expect(program.start()).toEqual({ out: "", err: "", exit: undefined });
    expect(textOf(program.input(bytes("ec")))).toBe("");
    expect(textOf(program.input(bytes("ho a\nhostname\n")))).toBe("a\nweb-0\n");
    expect(program.input(bytes("exit 300\n")).exit).toBe(300 & 255);
  });

  it("sh ends as its last line did, also without a newline at the end", () => {
    const program = programOf(["sh"], PLACE);
    program.input(bytes("false"));
    expect(program.inputEnded().exit).toBe(1);
  });

  it("sh in a terminal prompts, echoes and ends with Ctrl-D", () => {
    const program = programOf(["sh"], { ...PLACE, hasTty: true });
    expect(textOf(program.start())).toBe("$ ");
    expect(textOf(program.input(bytes("echo x\r")))).toBe("echo x\r\nx\r\n$ ");
    expect(program.input(bytes("\u0004")).exit).toBe(0);
  });

  it("attached, the container repeats its input", () => {
    const program = attachedProgram(PLACE);
    expect(textOf(program.start())).toContain("shop/web-0");
    expect(textOf(program.input(bytes("x")))).toBe("x");
  });
});
