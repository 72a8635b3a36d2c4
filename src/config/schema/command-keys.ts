import * as v from 'valibot';
import { COMMAND_IDS, type CommandId, isCommandKey, KEY_COMMANDS } from './default-keys.ts';
import { optionalKey } from './key.ts';

type CommandKey = v.ExactOptionalSchema<v.GenericSchema<string>, undefined>;

/** A key of the configuration for every command of the screens. */
export const commandKeysSchema = v.strictObject(
  Object.fromEntries(COMMAND_IDS.map((id) => [id, commandKey(id)])) as Record<CommandId, CommandKey>,
);

function commandKey(id: CommandId): CommandKey {
  const { keys, does } = KEY_COMMANDS[id];
  return optionalKey(
    v.pipe(v.string(), v.check(isCommandKey, 'must be a key that can be a command')),
    `Key for: ${does}.`,
    { example: keys[0], hint: 'Use one character or ctrl+ and a letter. j, k, g, G and digits move and choose.' },
  );
}
