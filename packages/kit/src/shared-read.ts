/**
 * One read of a server that several ask for at the same time.
 *
 * Each caller gets an answer that was asked for after its call, as if it had read alone: callers that come while a read is under
 * way wait for the next one, which begins when that is over and answers all of them. A read that fails, fails for all that wait
 * for it.
 */
export class SharedRead<T> {
  readonly #begin: (signal: AbortSignal) => Promise<T>;
  #underWay: Promise<void> | undefined;
  #next: Promise<T> | undefined;

  /** `begin` sends the read. */
  constructor(begin: (signal: AbortSignal) => Promise<T>) {
    this.#begin = begin;
  }

  /** The signals of all callers have to abort together: a read is given up with that of the first. */
  read(signal: AbortSignal): Promise<T> {
    if (this.#underWay === undefined) return this.#send(signal);
    this.#next ??= this.#underWay.then(() => {
      this.#next = undefined;
      return this.#send(signal);
    });
    return this.#next;
  }

  #send(signal: AbortSignal): Promise<T> {
    const answer = this.#begin(signal);
    const over = (): void => {
      if (this.#underWay === ended) this.#underWay = undefined;
    };
    const ended = answer.then(over, over);
    this.#underWay = ended;
    return answer;
  }
}
