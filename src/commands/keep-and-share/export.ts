import { resolve } from 'node:path';
import { defineCommand } from '../../cli/command.ts';
import { printable } from '../../text/printable.ts';
import { ORIGINAL, SNAPSHOT, snapshotRequest, TARGET } from '../shared-options.ts';

export const exportCommand = defineCommand({
  name: 'export',
  summary: 'write a snapshot to one file',
  group: 'Keep and share',
  arguments: [TARGET, SNAPSHOT],
  options: [
    { flags: '-o, --output <file>', description: 'file to write; default: ./TARGET-SNAPSHOT.zip' },
    { ...ORIGINAL, flags: '--original' },
  ],
  examples: [{ command: 'tool export app 0 -o app.zip', does: 'write the newest snapshot to a zip' }],
  json: 'events',
  async run(invocation) {
    const { exportSummary } = await import('../../operations/snapshots/transfer/transfer-text.ts');
    const { exportSnapshot } = await import('../../operations/snapshots/transfer/export.ts');
    const { target, snapshot = '0' } = invocation.arguments;
    const file = resolve(
      invocation.cwd,
      invocation.options.output ?? `${encodeURIComponent(`${target}-${snapshot}`)}.zip`,
    );
    const result = await exportSnapshot(await invocation.context(), { ...snapshotRequest(invocation), file });
    return { data: result, text: printable(exportSummary(result).line) };
  },
});
