import type { Draft } from '../problems/check-values.ts';
import type { KeyProblem } from '../problems/key-problem.ts';
import { serviceElsewhere } from '../urls/url-parts.ts';
import { connectionUrls } from './urls.ts';

/** libpq prefers the URL's parameters over the service's, but takes the password from the service. */
export function* servicesKeepTheirHosts(draft: Draft): Generator<KeyProblem> {
  for (const { path, url } of connectionUrls(draft)) {
    const leak = serviceElsewhere(url);
    if (!leak) continue;
    yield {
      path,
      severity: 'warning',
      code: 'service_elsewhere',
      message: `the password of service '${leak.service}' is sent to ${leak.host}`,
      hint: 'Remove the host or the service from the URL.',
    };
  }
}
