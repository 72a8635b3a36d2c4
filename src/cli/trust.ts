import { rememberTrust } from '../config/trust/trust-store.ts';
import { UntrustedConfiguration } from '../config/trust/untrusted-configuration.ts';
import { joinLines } from '../text/printable.ts';
import { ask } from './confirm.ts';
import type { CommandHost } from './host.ts';

export interface TrustOptions {
  host: Pick<CommandHost, 'stdin' | 'stderr' | 'terminal' | 'signal' | 'environment'>;
  /** `--trust`. `--yes` does not answer this question: it concerns the command, not the file. */
  trust: boolean;
}

export async function settleTrust({ request }: UntrustedConfiguration, { host, trust }: TrustOptions): Promise<void> {
  const { stdin: input, stderr: output, terminal, signal, environment } = host;
  if (!trust) {
    const { TRUST_QUESTION, trustAbout, trustLines } = await import('../operations/trust/trust-text.ts');
    const lines = trustLines(request);
    if (!terminal.canAsk) throw new UntrustedConfiguration(request, lines);
    output.write(`${joinLines([...trustAbout(request), ...lines.map((line) => `  ${line}`)])}\n`);
    const answer = await ask(`${TRUST_QUESTION} [y/N] `, { input, output, signal });
    if (!/^y(es)?$/i.test(answer.trim())) throw new UntrustedConfiguration(request, lines);
  }
  await rememberTrust(request, environment);
}
