/** Requests that outlive their answer: late replies and releases in the background. A count, because there are thousands. */
export class QuorumBackground {
  #underWay = 0;
  readonly #waiting: (() => void)[] = [];

  begin(): void {
    this.#underWay += 1;
  }

  /** However it ended: its caller has handled the outcome. */
  end(): void {
    this.#underWay -= 1;
    if (this.#underWay === 0) for (const tell of this.#waiting.splice(0)) tell();
  }

  /** Resolves when nothing is under way, also of what began meanwhile. */
  async idle(): Promise<void> {
    while (this.#underWay > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}
