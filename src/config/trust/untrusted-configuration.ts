import { UserError } from '../../runtime/errors.ts';
import type { TrustRequest } from './trust-request.ts';

/** An untrusted configuration of the current folder: nothing was connected to, no variable was read. */
export class UntrustedConfiguration extends UserError {
  readonly request: TrustRequest;

  constructor(request: TrustRequest, details: string[] = []) {
    const { file, digest, answered } = request;
    const what = answered ? 'has changed since you trusted it' : 'is not trusted';
    super('configuration_untrusted', `The configuration of this folder ${what}: ${file}`, {
      details,
      hint: `Read the file. If you trust it, run: tool trust (or add --trust to the command once, or set TOOL_TRUST=${digest})`,
    });
    this.request = request;
  }
}
