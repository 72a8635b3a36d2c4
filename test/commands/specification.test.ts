import { expectTypeOf, test } from 'vitest';
import { defineCommand } from '../../src/cli/command.ts';

test('the arguments and options of a run follow from the specification', () => {
  defineCommand({
    name: 'work',
    summary: 'work',
    group: 'Test',
    arguments: [
      { name: 'target', description: '', required: true },
      { name: 'keys', description: '', required: false, variadic: true },
    ],
    options: [
      { flags: '--in-place', description: '' },
      { flags: '--no-undo', description: '' },
      { flags: '--spare', description: '' },
      { flags: '-o, --output <file>', description: '' },
      { flags: '--tables <names>', description: '', repeatable: true },
      { flags: '--keep-last <n>', description: '', value: 'count' },
    ],
    examples: [],
    json: 'document',
    async run(given) {
      expectTypeOf(given.arguments).branded.toEqualTypeOf<{ target: string; keys?: string[] }>();
      expectTypeOf(given.options).branded.toEqualTypeOf<{
        inPlace?: boolean;
        undo: boolean;
        spare?: boolean;
        output?: string;
        tables?: string[];
        keepLast?: number;
      }>();
      return { data: {}, text: '' };
    },
  });
});
