import type { Writable } from 'node:stream';
import { printable } from '../../../src/text/printable.ts';

const MOST_CHARACTERS = 200;

/** Saves and restores the title of the window (xterm's window operations 22 and 23). */
const SAVE_TITLE = '\x1b[22;2t';
const RESTORE_TITLE = '\x1b[23;2t';

/** Announces results to users who look elsewhere; `restore` gives the window its own title back. */
export function createAnnouncer(stdout: Pick<Writable, 'write'>) {
  let saved = false;
  return {
    announce(text: string): void {
      // The name in front keeps a text from being a command of ConEmu, such as `9;4`.
      const shown = `tool: ${[...printable(text)].slice(0, MOST_CHARACTERS).join('')}`;
      // The bell, and OSC 9: iTerm2, WezTerm, kitty, Windows Terminal.
      stdout.write(`${saved ? '' : SAVE_TITLE}\x1b]2;${shown}\x07\x07\x1b]9;${shown}\x07`);
      saved = true;
    },
    restore(): void {
      if (saved) stdout.write(RESTORE_TITLE);
      saved = false;
    },
  };
}
