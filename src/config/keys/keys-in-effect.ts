import { type CommandId, type ConfiguredKeys, KEY_COMMANDS, keysOfCommand } from '../schema/default-keys.ts';

/** One per process, as there is one terminal: sentences of every part name keys. */
let configured: ConfiguredKeys = {};

export function setKeysInEffect(keys: ConfiguredKeys): void {
  configured = keys;
}

/** The key of a command as sentences name it: `U`, `Ctrl-P`. */
export function keyText(id: CommandId): string {
  return commandKeyName(keysOfCommand(id, configured)[0] ?? KEY_COMMANDS[id].keys[0]);
}

export function commandKeyName(key: string): string {
  return key.replace(/^ctrl\+(.)$/, (_, letter: string) => `Ctrl-${letter.toUpperCase()}`);
}
