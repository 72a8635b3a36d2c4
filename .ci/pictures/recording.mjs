import { createSteady } from './steady.mjs';

/** Seconds before and after a command is typed, and for each piece of it. */
const LEAST_SECONDS = 0.5;
const SECONDS_A_PIECE = 0.1;
const PIECE = 6;
const PATIENCE = 60_000;

/** The screens of a terminal at the moments that matter, each with the seconds for which it is shown. */
export function createRecording(terminal, folders) {
  const frames = [];
  const steady = createSteady(folders);
  const take = (seconds) => frames.push({ lines: steady(terminal.cells()), seconds });

  return {
    frames,
    /** Waits for the text, then shows the screen. */
    async shown(wanted, seconds = LEAST_SECONDS) {
      await terminal.waitFor(wanted, PATIENCE);
      take(seconds);
    },
    /** Types into the field with this label; keys before the text are not shown. */
    async typed(label, ...keys) {
      await terminal.waitFor(label, PATIENCE);
      take(LEAST_SECONDS);
      const text = keys.pop();
      terminal.press(...keys);
      for (let end = PIECE; end - PIECE < text.length; end += PIECE) {
        const before = terminal.screen();
        terminal.press(text.slice(end - PIECE, end));
        // A password is shown as stars, so that the text itself cannot be waited for.
        await terminal.waitFor((screen) => screen !== before, PATIENCE);
        take(SECONDS_A_PIECE);
      }
      frames.at(-1).seconds = LEAST_SECONDS;
    },
  };
}

/** The recording as asciinema plays it: https://docs.asciinema.org/manual/asciicast/v2/ */
export function asciicast(frames, title) {
  const [{ lines }] = frames;
  const width = lines[0].reduce((sum, cell) => sum + cell.width, 0);
  const header = { version: 2, width, height: lines.length, title };
  let at = 0;
  const events = frames.map(({ lines: shown, seconds }) => {
    const event = [Math.round(at * 100) / 100, 'o', `\x1b[H\x1b[2J${shown.map(styled).join('\r\n')}`];
    at += seconds;
    return event;
  });
  // The end, so that the last frame is seen.
  return `${[header, ...events, [Math.round(at * 100) / 100, 'o', '']].map((line) => JSON.stringify(line)).join('\n')}\n`;
}

function styled(line) {
  let look = '';
  const text = line.map((cell) => {
    const wanted = sgr(cell);
    const change = wanted === look ? '' : `\x1b[0${wanted}m`;
    look = wanted;
    return change + (cell.text || ' ');
  });
  return `${text.join('').replace(/ +$/, '')}\x1b[0m`;
}

function sgr({ foreground, background, bold, dim, inverse, underline }) {
  return [
    bold && ';1',
    dim && ';2',
    underline && ';4',
    inverse && ';7',
    foreground >= 0 && `;38;5;${foreground}`,
    background >= 0 && `;48;5;${background}`,
  ]
    .filter(Boolean)
    .join('');
}
