import { resolve } from 'node:path';
import { defineCommand } from '../cli/command.ts';
import { ALLOW_UNTRUSTED } from './shared-options.ts';

export const importCommand = defineCommand({
  name: 'import',
  summary: 'import an exported snapshot',
  group: 'Keep and share',
  arguments: [{ name: 'file', description: 'file of tool export', required: true }],
  options: [
    { flags: '--target <name>', description: 'target of the snapshot; default: the original one' },
    ALLOW_UNTRUSTED,
  ],
  examples: [{ command: 'tool import app.zip', does: 'add the snapshot to the local repository' }],
  json: 'events',
  writes: true,
  async run(invocation) {
    const { importedText } = await import('../operations/snapshots/transfer/transfer-text.ts');
    const { importSnapshot } = await import('../operations/snapshots/transfer/import.ts');
    const { target, allowUntrusted = false } = invocation.options;
    const file = resolve(invocation.cwd, invocation.arguments.file);
    const request = { file, allowUntrusted, ...(target !== undefined && { target }) };
    const result = await importSnapshot(await invocation.context(), request);
    return { data: result, text: importedText(result) };
  },
});
