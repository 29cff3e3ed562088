/** What people see: lines, and below them one that is written over again and again where there is a terminal. */
export class Screen {
  readonly #out: NodeJS.WriteStream;
  #shownAt = 0;
  #isShowing = false;

  constructor(out: NodeJS.WriteStream) {
    this.#out = out;
    this.#shownAt = performance.now();
  }

  /** Writes lines for good. */
  say(text: string): void {
    this.#out.write(`${this.#isShowing ? CLEAR : ""}${text}\n`);
    this.#isShowing = false;
  }

  /** Shows how far it is, now and then; the line is made only if it is shown. */
  progress(line: () => string): void {
    const { isTTY } = this.#out;
    const now = performance.now();
    if (now - this.#shownAt < (isTTY ? TERMINAL_MS : FILE_MS)) return;
    this.#shownAt = now;
    this.#out.write(isTTY ? `${CLEAR}${line()}` : `${line()}\n`);
    this.#isShowing = isTTY;
  }
}

/** Back to the first column, and nothing to the right of it. */
const CLEAR = "\r\u001B[K";
const TERMINAL_MS = 500;
/** Where lines stay, one a minute is enough. */
const FILE_MS = 60_000;
