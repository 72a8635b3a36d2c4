import { rememberTrust } from '../config/trust/trust-store.ts';
import { trustLines, type UntrustedConfiguration } from '../config/trust/untrusted-configuration.ts';
import { ask } from './confirm.ts';
import type { Host } from './host.ts';

export interface Settling {
  host: Pick<Host, 'stdin' | 'stderr' | 'terminal' | 'signal' | 'environment'>;
  /** `--trust`. `--yes` does not answer this question: it concerns the command, not the file. */
  trust: boolean;
}

export async function settleTrust(error: UntrustedConfiguration, { host, trust }: Settling): Promise<void> {
  const { stdin: input, stderr: output, terminal, signal, environment } = host;
  const { request } = error;
  if (!trust) {
    if (!terminal.canAsk) throw error;
    const { TRUST_QUESTION, trustAbout } = await import('../presentation/configuration.ts');
    const lines = trustLines(request).map((line) => `  ${line}`);
    output.write(`${[...trustAbout(error), ...lines].join('\n')}\n`);
    const answer = await ask(`${TRUST_QUESTION} [y/N] `, { input, output, signal });
    if (!/^y(es)?$/i.test(answer.trim())) throw error;
  }
  await rememberTrust(request, environment);
}
