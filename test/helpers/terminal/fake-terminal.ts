import type { TerminalControl } from '../../../screens/app/model.ts';

/** A terminal that does nothing but what is said here. */
export function fakeTerminal(control: Partial<TerminalControl> = {}): TerminalControl {
  return {
    quit: () => {},
    rows: () => 24,
    columns: () => 80,
    edit: async () => {},
    run: async () => 0,
    mouse: () => {},
    copy: () => {},
    useTheme: () => {},
    announce: () => {},
    ...control,
  };
}
