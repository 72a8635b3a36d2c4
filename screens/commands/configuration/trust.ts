import { UntrustedConfiguration } from '../../../src/config/trust/untrusted-configuration.ts';
import { trustItems } from '../../../src/operations/trust/trust-text.ts';
import { emptyList } from '../../../src/state/list.ts';
import { refreshSnapshots, refreshTargets } from '../../app/lists/refresh.ts';
import { type Model, orNotify } from '../../app/model.ts';

export function untrustedOf({ targets }: Model): UntrustedConfiguration | null {
  const { error } = targets.getState();
  return error instanceof UntrustedConfiguration ? error : null;
}

export function confirmTrust(model: Model): void {
  const error = untrustedOf(model);
  if (!error) return;
  model.navigation.push({ screen: 'trust', error, lines: trustItems(error.request), list: emptyList });
}

/** Opens the file in the editor of the user; what is in it afterwards is asked about anew. */
export async function openUntrusted(model: Model, { request }: UntrustedConfiguration): Promise<void> {
  if (!(await orNotify(model, () => model.terminal.edit(request.file)))) return;
  if (model.navigation.top().screen === 'trust') model.navigation.pop();
  await refreshTargets(model);
  confirmTrust(model);
}

/** Stores the trust and reads the file. */
export async function answerTrust(model: Model, { request }: UntrustedConfiguration): Promise<void> {
  const { navigation, operations } = model;
  if (navigation.top().screen === 'trust') navigation.pop();
  if (!(await orNotify(model, () => operations.trust(request)))) return;
  const route = navigation.top();
  await Promise.all([refreshTargets(model), 'target' in route ? refreshSnapshots(model, route.target) : null]);
}
