import { UserError } from '../../runtime/errors.ts';
import type { TrustRequest } from './trust-request.ts';

/** A command without a terminal. */
interface UnaskedTrust {
  command: string;
  assumeYes: boolean;
}

const YES =
  '--yes, TOOL_NO_CONFIRM and CI confirm what a command changes, not who wrote the file: it may be someone else. ';

/** An untrusted configuration of the current folder: nothing was connected to, no variable was read. */
export class UntrustedConfiguration extends UserError {
  readonly request: TrustRequest;

  constructor(request: TrustRequest, details: string[] = [], unasked?: UnaskedTrust) {
    const { file, digest, answered } = request;
    const what = answered ? 'has changed since you trusted it' : 'is not trusted';
    const how =
      unasked?.command === 'trust'
        ? 'run: tool trust --trust (or tool trust in a terminal'
        : 'run: tool trust (or add --trust to the command once';
    super('configuration_untrusted', `The configuration of this folder ${what}: ${file}`, {
      details,
      hint: `${unasked?.assumeYes ? YES : ''}Read the file. If you trust it, ${how}, or set TOOL_TRUST=${digest})`,
    });
    this.request = request;
  }
}
