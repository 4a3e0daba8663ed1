/** What goes on after an answer was given: late replies, releases nobody waits for. A count, because there are thousands. */
export class QuorumBackground {
  #underWay = 0;
  readonly #waiting: (() => void)[] = [];

  begin(): void {
    this.#underWay += 1;
  }

  /** However it ended: whoever began it has said what that means. */
  end(): void {
    this.#underWay -= 1;
    if (this.#underWay === 0) for (const tell of this.#waiting.splice(0)) tell();
  }

  /** Resolves when nothing is under way, also of what began meanwhile. */
  async idle(): Promise<void> {
    while (this.#underWay > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}
