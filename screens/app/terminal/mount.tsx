import { render } from 'ink';
import type { StoreApi } from 'zustand';
import type { Theme } from '../../../components/theme.ts';
import { App } from '../app.tsx';
import { dispatchMouse } from '../dispatch.ts';
import type { Model } from '../model.ts';
import { typingAt } from '../route.ts';
import { ASK_FOR_BACKGROUND, type Background } from './background.ts';
import type { HandOver } from './hand-over.ts';
import { keyedInput } from './input.ts';
import { MOUSE_OFF, MOUSE_ON } from './mouse.ts';
import { settledOutput, type TerminalOutput } from './output.ts';

export interface MountedApplication {
  unmount(): Promise<void>;
  /** Resolves when the application has left the terminal; rejects when it failed. */
  ended: Promise<unknown>;
}

export interface MountOptions {
  model: Model;
  handOver: HandOver;
  theme: StoreApi<Theme>;
  /** Called with the answer to the question for the background; absent where it is not asked. */
  onBackground?: ((background: Background) => void) | undefined;
  stdin: NodeJS.ReadStream;
  stdout: TerminalOutput;
  /** The terminal supports characters beyond ASCII. */
  unicode: boolean;
  /** Draws linearly on the ordinary screen. */
  screenReader: boolean;
}

const AUTOWRAP_OFF = '\x1b[?7l';
const AUTOWRAP_ON = '\x1b[?7h';

/** Draws the application on the alternate screen of a terminal. */
export function mount(options: MountOptions): MountedApplication {
  const { model, handOver, theme, onBackground, stdin, stdout, unicode, screenReader } = options;
  // Keys typed before the first frame would be echoed into it.
  stdin.setRawMode(true);
  const input = keyedInput(stdin, {
    onMouse: (event) => dispatchMouse(model, event),
    isTyping: () => typingAt(model.navigation.top()) !== null,
    ...(onBackground && { onBackground }),
  });
  const output = settledOutput(stdout, { unicode, screenReader });
  // Clips lines that are too long for a window just made narrower.
  stdout.write(AUTOWRAP_OFF);
  const suspend = async () => {
    stdout.write(AUTOWRAP_ON + MOUSE_OFF);
    stopUntilContinued();
    stdout.write(AUTOWRAP_OFF + (model.mouse.on ? MOUSE_ON : ''));
  };
  const bindHandOver = (suspendTerminal: (work: () => Promise<void>) => Promise<void>) =>
    handOver.bind(async (work) => {
      await input.answered();
      await input.pause();
      try {
        await suspendTerminal(async () => {
          stdout.write(AUTOWRAP_ON);
          try {
            await work();
          } finally {
            // Before the frame that Ink draws on its return.
            stdout.write(AUTOWRAP_OFF);
          }
        });
      } finally {
        input.resume();
      }
    });
  const app = render(<App model={model} theme={theme} suspend={suspend} bindHandOver={bindHandOver} />, {
    stdin: input.stream,
    stdout: output.stream,
    alternateScreen: !screenReader,
    isScreenReaderEnabled: screenReader,
    interactive: true,
    maxFps: 60,
    exitOnCtrlC: false,
    patchConsole: false,
  });
  output.onSettled(() => app.clear());
  // After the first frame, which waits for no answer.
  if (onBackground) {
    input.expectAnswer();
    stdout.write(ASK_FOR_BACKGROUND);
  }
  const ended = app.waitUntilExit().finally(() => {
    input.close();
    output.close();
    stdout.write(AUTOWRAP_ON + MOUSE_OFF);
  });
  return {
    async unmount() {
      // An answer that is on its way would be typed into the shell.
      await input.answered();
      app.unmount();
    },
    ended,
  };
}

function stopUntilContinued(): void {
  // The whole process group, as the terminal does: the launcher must stop too for the shell to notice.
  process.kill(0, 'SIGTSTP');
  // The window may have been resized meanwhile; only the foreground gets the signal.
  process.kill(process.pid, 'SIGWINCH');
}
