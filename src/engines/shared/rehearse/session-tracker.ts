import type { RunningStatement, SessionRecord } from './recorder.ts';

/** Bytes of a statement's text that are kept. */
export const LONGEST_TEXT = 8 * 1024;
const MOST_PREPARED = 2000;

export interface TrackerOptions extends Pick<SessionRecord, 'ended' | 'released'> {
  now: () => number;
}

/** Follows the statements of one session by its messages; those of a pipeline are answered in their order. */
export abstract class SessionTracker<Message extends RunningStatement> {
  protected readonly queue: Message[] = [];
  protected last: RunningStatement | null = null;
  protected needsLook = false;

  /** The statement that runs, else the last one whose locks are held. */
  abstract running(): RunningStatement | null;

  /** The locks of the session are to be read before its next bytes are passed on. Reading it resets it. */
  takeLook(): boolean {
    const needed = this.needsLook;
    this.needsLook = false;
    return needed;
  }
}

/** Texts of prepared statements. The oldest are forgotten: their statements have no text then. */
export class PreparedTexts<Key> extends Map<Key, string> {
  override set(key: Key, text: string): this {
    this.delete(key);
    super.set(key, text);
    const [oldest] = this.keys();
    if (this.size > MOST_PREPARED && oldest !== undefined) this.delete(oldest);
    return this;
  }
}
