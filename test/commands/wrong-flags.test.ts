import { expect, test } from 'vitest';
import { parseLine } from '../../src/cli/program.ts';
import { COMMANDS, FAMILIES, GLOBAL_OPTIONS } from '../../src/commands/registry.ts';

const options = {
  columns: null,
  grammar: { commands: COMMANDS, families: FAMILIES, globalOptions: GLOBAL_OPTIONS, version: '1.2.3' },
};

test.each([
  ['back app previous --no-undo', '--no-undo has no effect on a return to previous'],
  ['back app previous --no-autosave', '--no-autosave has no effect'],
  ['verify app 1 --save mine', '--save and a snapshot exclude each other'],
  ['verify app --save mine --remote', '--save and --remote exclude each other'],
  ['verify app --save mine --restore', '--restore and --save exclude each other'],
])('%s is refused before anything is read', async (line, message) => {
  const parsed = parseLine(line.split(' '), options);
  if (parsed.kind !== 'command') throw new Error('not a command');
  const context = () => Promise.reject(new Error('the configuration was read'));
  const command = COMMANDS.find(({ name }) => name === parsed.spec.name);
  await expect(command?.run({ ...parsed, context } as never)).rejects.toMatchObject({
    message: expect.stringContaining(message),
    exit: 2,
  });
});
