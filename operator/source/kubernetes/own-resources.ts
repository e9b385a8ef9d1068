/** The kinds that the operator watches, with the names that the API server gives them. */
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
 * Leaves out Helm's releases: Secrets of up to a mebibyte each that no object refers to. Lists, watches and fetches all
 * use it: a Secret that only a fetch found would never be updated, because no watch covers it.
 */
export const secretFieldSelector = "type!=helm.sh/release.v1";
