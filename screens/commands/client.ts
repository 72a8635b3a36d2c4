import type { ClientRequest } from '../../src/operations/load/script/client-program.ts';
import { clientEndedText, clientName } from '../app/frame/run-text.ts';
import { type Model, orNotify, quietly } from '../app/model.ts';

/** Opens psql or mysql in the terminal, until the user quits it. */
export async function openClient(model: Model, request: Pick<ClientRequest, 'target' | 'url'>): Promise<void> {
  const session = quietly(new AbortController().signal);
  await orNotify(model, async () => {
    const code = await model.operations.openClient(session, request, model.terminal.run);
    if (code !== 0) model.navigation.notify({ tone: 'caution', text: clientEndedText(clientName(request.url), code) });
  });
}
