import type { Mode } from '../../results/configuration/configuration-results.ts';
import type { Configuration } from '../configuration.ts';
import { lacksSignIn, modeOf } from '../mode.ts';
import type { ConfiguredKeys } from '../schema/default-keys.ts';
import type { Settings } from '../schema/settings.ts';

/** The parts of a configuration that the screens need of it; small enough to be sent between threads. */
export interface InEffect {
  /** Absolute; `null` when environment variables alone configure the tool. */
  file: string | null;
  mode: Mode;
  lacksSignIn: boolean;
  theme: Settings['theme'];
  notify: boolean;
  keys: ConfiguredKeys;
  /** Names of the targets that are skipped, since they are invalid. */
  misnamed: string[];
}

export function inEffect({ file, settings, misnamed = {} }: Configuration): InEffect {
  const { theme, notify, keys } = settings;
  const hub = { mode: modeOf(settings), lacksSignIn: lacksSignIn(settings) };
  return { file, ...hub, theme, notify, keys, misnamed: Object.keys(misnamed) };
}
