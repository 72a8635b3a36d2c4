import { defineCommand } from '../../cli/command.ts';
import { DRY_RUN } from '../shared-options.ts';

export const cloudApplyCommand = defineCommand({
  name: 'cloud apply',
  summary: 'write storage profiles and targets of a file to the hub',
  group: 'Hub',
  arguments: [{ name: 'file', description: 'file with the keys of tool.yml', required: true }],
  options: [DRY_RUN, { flags: '--overwrite', description: 'overwrite later changes on the hub' }],
  examples: [
    { command: 'tool cloud apply hub.yml --dry-run', does: 'print what would change' },
    { command: 'tool cloud apply hub.yml', does: 'print the changes, and apply them' },
  ],
  json: 'events',
  writes: true,
  async run(invocation) {
    const { questionLines } = await import('../../cli/printers/question.ts');
    const { appliedText, applyQuestion } = await import('../../operations/cloud/hub-settings-text.ts');
    const { applyHubSettings, planHubSettings } = await import('../../operations/cloud/hub-settings.ts');
    const { arguments: given, options, cwd } = invocation;
    const { dryRun = false, overwrite = false } = options;
    const context = await invocation.context();
    const planned = await planHubSettings(context, { file: given.file, cwd, overwrite });
    const { plan } = planned;
    if (dryRun) return { data: { dry_run: true, plan }, text: questionLines(applyQuestion(plan)).join('\n') };
    const isDone = plan.resources.every(({ action }) => action === 'unchanged');
    if (!isDone) await invocation.confirm(applyQuestion(plan));
    await applyHubSettings(context, planned);
    return { data: { dry_run: false, plan }, text: appliedText(plan) };
  },
});
