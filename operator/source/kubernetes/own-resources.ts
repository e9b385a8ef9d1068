/** The kinds that the operator watches, as the API server names them. */
import {
  type ApiResource,
  configMapResource,
  namespaceResource,
  secretResource,
} from "#operator/kubernetes/api/api-object";
import type { OwnKind, ResourceKind } from "#operator/resources/resource";

const apiVersion = "tollgate.dev/v1alpha1";

/** Our own kinds; for reading, and for writing their status. */
export const ownResources: { readonly [kind in OwnKind]: ApiResource } = {
  ApiKey: { apiVersion, kind: "ApiKey", plural: "apikeys" },
  Channel: { apiVersion, kind: "Channel", plural: "channels" },
  ModelRoute: { apiVersion, kind: "ModelRoute", plural: "modelroutes" },
  Account: { apiVersion, kind: "Account", plural: "accounts" },
};

/** Every kind of the store. */
export const watchedResources: { readonly [kind in ResourceKind]: ApiResource } = {
  ...ownResources,
  Secret: secretResource,
  ConfigMap: configMapResource,
  Namespace: namespaceResource,
};

/**
 * Releases of Helm lie in Secrets of up to a mebibyte each, and nobody refers to one: for us they are not there. For every
 * question: of one that was found by name alone no watch would ever tell that it was changed or deleted.
 */
export const secretFieldSelector = "type!=helm.sh/release.v1";
