import { defineCommand } from '../../cli/command.ts';
import { DESTDB, TARGET } from '../shared-options.ts';

export const branchListCommand = defineCommand({
  name: 'branch list',
  summary: 'list branches with age, size, snapshot, git branch and last use',
  group: 'Branches',
  arguments: [{ ...TARGET, description: 'name of a target; default: all', required: false }],
  options: [DESTDB],
  examples: [
    { command: 'tool branch list', does: 'list all branches; * marks the destination' },
    { command: 'tool branch list app --json', does: 'print JSON for a script' },
  ],
  json: 'document',
  async run(invocation) {
    const { formatTable } = await import('../../cli/printers/table.ts');
    const { targetBranchColumns, NO_BRANCHES } = await import('../../operations/branch/list/text.ts');
    const { listBranches } = await import('../../operations/branch/list/list.ts');
    const context = await invocation.context();
    const list = await listBranches(context, { ...invocation.arguments, ...invocation.options });
    for (const { target, message } of list.errors) {
      context.report({ event: 'warning', code: 'branches_unknown', message: `Branches of "${target}": ${message}` });
    }
    const columns = targetBranchColumns(list.branches, context.clock());
    // Targets whose branches are unknown may have some.
    const none = list.errors.length > 0 ? '' : NO_BRANCHES;
    const text = list.branches.length > 0 ? formatTable(columns, list.branches, invocation.tableOptions()) : none;
    return { data: list, text };
  },
});
