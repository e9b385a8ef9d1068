/** Asks the API server whose token it is (TokenReview, `authentication.k8s.io/v1`). */
import type { ApiClient } from "../kubernetes/api-client.ts";
import { isRecord, tokenReviewResource } from "../kubernetes/api-object.ts";
import type { TokenReview, TokenReviewer } from "../push/authenticate/verify-token.ts";

/** Names the pod that a projected token is bound to. */
const podNameExtra = "authentication.kubernetes.io/pod-name";

export function tokenReviewer(client: Pick<ApiClient, "create">): TokenReviewer {
  return {
    async review(token, audience, signal): Promise<TokenReview> {
      const answer = await client.create(tokenReviewResource, { spec: { token, audiences: [audience] } }, { signal });
      const status = isRecord(answer["status"]) ? answer["status"] : {};
      const user = isRecord(status["user"]) ? status["user"] : {};
      const extra = isRecord(user["extra"]) ? user["extra"] : {};
      const [pod] = strings(extra[podNameExtra]);
      return {
        isAuthenticated: status["authenticated"] === true,
        audiences: strings(status["audiences"]),
        username: typeof user["username"] === "string" ? user["username"] : "",
        ...(pod !== undefined && { pod }),
      };
    },
  };
}

function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}
