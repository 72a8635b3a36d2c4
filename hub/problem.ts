import { PROBLEMS, type ProblemCode } from '../src/cloud/contract/problems.ts';
import type { ProblemBody } from '../src/cloud/contract/schemas.ts';

export interface ProblemOptions {
  hint?: string;
  errors?: { pointer: string; detail: string }[];
  headers?: Record<string, string>;
  cause?: unknown;
}

/** An error that is answered as it is (RFC 9457). */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly code: ProblemCode;
  readonly options: ProblemOptions;

  constructor(code: ProblemCode, detail: string, options: ProblemOptions = {}) {
    super(detail, { cause: options.cause });
    this.code = code;
    this.options = options;
  }

  get status(): number {
    return PROBLEMS[this.code].status;
  }

  body(requestId: string): ProblemBody {
    const { status, title } = PROBLEMS[this.code];
    const { hint = null, errors = [] } = this.options;
    const { code, message: detail } = this;
    return { type: `urn:tool:${code}`, title, status, detail, code, hint, request_id: requestId, errors };
  }
}
