/** Generated from crds/*.yaml by `npm run generate`; do not edit. */
import type { KindSchema } from "./structural-schema.ts";

export const customKinds: readonly KindSchema[] = [
 {
  "apiVersion": "tollgate.dev/v1alpha1",
  "kind": "Account",
  "scope": "Namespaced",
  "schema": {
   "type": "object",
   "required": [
    "spec"
   ],
   "properties": {
    "apiVersion": {
     "type": "string"
    },
    "kind": {
     "type": "string"
    },
    "metadata": {
     "type": "object"
    },
    "spec": {
     "type": "object",
     "properties": {
      "displayName": {
       "type": "string",
       "maxLength": 128
      },
      "state": {
       "type": "string",
       "enum": [
        "Active",
        "Suspended"
       ],
       "default": "Active"
      },
      "credit": {
       "type": "string",
       "minLength": 1,
       "maxLength": 16,
       "pattern": "^[0-9]{1,15}(\\.[0-9]{1,6})?[kMG]?$",
       "x-kubernetes-validations": [
        {
         "rule": "quantity(self).compareTo(quantity('9G')) <= 0",
         "message": "set at most 9G (9,000,000,000 credits)",
         "reason": "FieldValueInvalid"
        }
       ]
      },
      "overdraft": {
       "type": "string",
       "minLength": 1,
       "maxLength": 16,
       "pattern": "^[0-9]{1,15}(\\.[0-9]{1,6})?[kMG]?$",
       "default": "0",
       "x-kubernetes-validations": [
        {
         "rule": "quantity(self).compareTo(quantity('9G')) <= 0",
         "message": "set at most 9G (9,000,000,000 credits)",
         "reason": "FieldValueInvalid"
        }
       ]
      },
      "currency": {
       "type": "string",
       "minLength": 1,
       "maxLength": 16
      },
      "limits": {
       "type": "array",
       "maxItems": 8,
       "x-kubernetes-list-type": "map",
       "x-kubernetes-list-map-keys": [
        "name"
       ],
       "items": {
        "type": "object",
        "required": [
         "name",
         "unit",
         "limit",
         "period"
        ],
        "properties": {
         "name": {
          "type": "string",
          "minLength": 1,
          "maxLength": 63,
          "pattern": "^[a-z0-9]([a-z0-9-]*[a-z0-9])?$"
         },
         "unit": {
          "type": "string",
          "enum": [
           "Requests",
           "Tokens",
           "InputTokens",
           "OutputTokens",
           "Cost"
          ]
         },
         "limit": {
          "type": "string",
          "minLength": 1,
          "maxLength": 16,
          "pattern": "^[0-9]{1,15}(\\.[0-9]{1,6})?[kMG]?$"
         },
         "period": {
          "type": "string",
          "enum": [
           "Second",
           "Minute",
           "Hour",
           "Day",
           "Week",
           "Month",
           "Lifetime"
          ]
         },
         "timeZone": {
          "type": "string",
          "minLength": 1,
          "maxLength": 64,
          "pattern": "^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$"
         },
         "algorithm": {
          "type": "string",
          "enum": [
           "FixedWindow",
           "TokenBucket"
          ]
         },
         "burst": {
          "type": "integer",
          "format": "int64",
          "minimum": 1,
          "maximum": 999999999999999
         },
         "mode": {
          "type": "string",
          "enum": [
           "Enforce",
           "Shadow"
          ],
          "default": "Enforce"
         },
         "models": {
          "type": "array",
          "minItems": 1,
          "maxItems": 16,
          "x-kubernetes-list-type": "set",
          "items": {
           "type": "string",
           "minLength": 1,
           "maxLength": 256,
           "x-kubernetes-validations": [
            {
             "rule": "self.matches('^([*]|[!-)+-~]+[*]?|[*][!-)+-~]+)$')",
             "message": "write an exact model name, `prefix*`, `*suffix` or `*`; a wildcard may occur once and only at an end",
             "reason": "FieldValueInvalid"
            }
           ]
          },
          "x-kubernetes-validations": [
           {
            "rule": "size(self) <= 1 || self.all(pattern, pattern != '*')",
            "message": "leave `*` alone in its list: it already covers every other entry",
            "reason": "FieldValueInvalid"
           }
          ]
         }
        },
        "x-kubernetes-validations": [
         {
          "rule": "self.unit == 'Cost' || self.limit.matches('^[0-9]+([.][0-9]{1,3}k|[.][0-9]{1,6}[MG]|[kMG])?$')",
          "message": "write a whole number: only unit Cost takes a fraction",
          "fieldPath": ".limit",
          "reason": "FieldValueInvalid"
         },
         {
          "rule": "self.unit != 'Cost' || quantity(self.limit).compareTo(quantity('9G')) <= 0",
          "message": "set at most 9G (9,000,000,000 credits)",
          "fieldPath": ".limit",
          "reason": "FieldValueInvalid"
         },
         {
          "rule": "self.unit == 'Cost' || quantity(self.limit).compareTo(quantity('999999999999999')) <= 0",
          "message": "set at most 999999999999999 (15 digits)",
          "fieldPath": ".limit",
          "reason": "FieldValueInvalid"
         },
         {
          "rule": "!has(self.timeZone) || self.period in ['Day', 'Week', 'Month']",
          "message": "remove timeZone or set period to Day, Week or Month: only these follow a calendar",
          "fieldPath": ".timeZone",
          "reason": "FieldValueForbidden"
         },
         {
          "rule": "!has(self.algorithm) || self.algorithm != 'TokenBucket' || self.period in ['Second', 'Minute', 'Hour']",
          "message": "use FixedWindow, or set period to Second, Minute or Hour: a TokenBucket fits no longer period",
          "fieldPath": ".algorithm",
          "reason": "FieldValueInvalid"
         },
         {
          "rule": "!has(self.burst) || (has(self.algorithm) ? self.algorithm == 'TokenBucket' : self.period in ['Second', 'Minute', 'Hour'])",
          "message": "remove burst or use algorithm TokenBucket with period Second, Minute or Hour: only a bucket has a size",
          "fieldPath": ".burst",
          "reason": "FieldValueForbidden"
         }
        ]
       }
      },
      "defaultKeyLimits": {
       "type": "array",
       "maxItems": 8,
       "x-kubernetes-list-type": "map",
       "x-kubernetes-list-map-keys": [
        "name"
       ],
       "items": {
        "type": "object",
        "required": [
         "name",
         "unit",
         "limit",
         "period"
        ],
        "properties": {
         "name": {
          "type": "string",
          "minLength": 1,
          "maxLength": 63,
          "pattern": "^[a-z0-9]([a-z0-9-]*[a-z0-9])?$"
         },
         "unit": {
          "type": "string",
          "enum": [
           "Requests",
           "Tokens",
           "InputTokens",
           "OutputTokens",
           "Cost"
          ]
         },
         "limit": {
          "type": "string",
          "minLength": 1,
          "maxLength": 16,
          "pattern": "^[0-9]{1,15}(\\.[0-9]{1,6})?[kMG]?$"
         },
         "period": {
          "type": "string",
          "enum": [
           "Second",
           "Minute",
           "Hour",
           "Day",
           "Week",
           "Month",
           "Lifetime"
          ]
         },
         "timeZone": {
          "type": "string",
          "minLength": 1,
          "maxLength": 64,
          "pattern": "^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$"
         },
         "algorithm": {
          "type": "string",
          "enum": [
           "FixedWindow",
           "TokenBucket"
          ]
         },
         "burst": {
          "type": "integer",
          "format": "int64",
          "minimum": 1,
          "maximum": 999999999999999
         },
         "mode": {
          "type": "string",
          "enum": [
           "Enforce",
           "Shadow"
          ],
          "default": "Enforce"
         },
         "models": {
          "type": "array",
          "minItems": 1,
          "maxItems": 16,
          "x-kubernetes-list-type": "set",
          "items": {
           "type": "string",
           "minLength": 1,
           "maxLength": 256,
           "x-kubernetes-validations": [
            {
             "rule": "self.matches('^([*]|[!-)+-~]+[*]?|[*][!-)+-~]+)$')",
             "message": "write an exact model name, `prefix*`, `*suffix` or `*`; a wildcard may occur once and only at an end",
             "reason": "FieldValueInvalid"
            }
           ]
          },
          "x-kubernetes-validations": [
           {
            "rule": "size(self) <= 1 || self.all(pattern, pattern != '*')",
            "message": "leave `*` alone in its list: it already covers every other entry",
            "reason": "FieldValueInvalid"
           }
          ]
         }
        },
        "x-kubernetes-validations": [
         {
          "rule": "self.unit == 'Cost' || self.limit.matches('^[0-9]+([.][0-9]{1,3}k|[.][0-9]{1,6}[MG]|[kMG])?$')",
          "message": "write a whole number: only unit Cost takes a fraction",
          "fieldPath": ".limit",
          "reason": "FieldValueInvalid"
         },
         {
          "rule": "self.unit != 'Cost' || quantity(self.limit).compareTo(quantity('9G')) <= 0",
          "message": "set at most 9G (9,000,000,000 credits)",
          "fieldPath": ".limit",
          "reason": "FieldValueInvalid"
         },
         {
          "rule": "self.unit == 'Cost' || quantity(self.limit).compareTo(quantity('999999999999999')) <= 0",
          "message": "set at most 999999999999999 (15 digits)",
          "fieldPath": ".limit",
          "reason": "FieldValueInvalid"
         },
         {
          "rule": "!has(self.timeZone) || self.period in ['Day', 'Week', 'Month']",
          "message": "remove timeZone or set period to Day, Week or Month: only these follow a calendar",
          "fieldPath": ".timeZone",
          "reason": "FieldValueForbidden"
         },
         {
          "rule": "!has(self.algorithm) || self.algorithm != 'TokenBucket' || self.period in ['Second', 'Minute', 'Hour']",
          "message": "use FixedWindow, or set period to Second, Minute or Hour: a TokenBucket fits no longer period",
          "fieldPath": ".algorithm",
          "reason": "FieldValueInvalid"
         },
         {
          "rule": "!has(self.burst) || (has(self.algorithm) ? self.algorithm == 'TokenBucket' : self.period in ['Second', 'Minute', 'Hour'])",
          "message": "remove burst or use algorithm TokenBucket with period Second, Minute or Hour: only a bucket has a size",
          "fieldPath": ".burst",
          "reason": "FieldValueForbidden"
         }
        ]
       }
      }
     }
    },
    "status": {
     "type": "object",
     "properties": {
      "observedGeneration": {
       "type": "integer",
       "format": "int64",
       "minimum": 0,
       "maximum": 9007199254740991
      },
      "conditions": {
       "type": "array",
       "maxItems": 8,
       "x-kubernetes-list-type": "map",
       "x-kubernetes-list-map-keys": [
        "type"
       ],
       "items": {
        "type": "object",
        "required": [
         "type",
         "status",
         "lastTransitionTime",
         "reason",
         "message"
        ],
        "properties": {
         "type": {
          "type": "string",
          "maxLength": 316,
          "pattern": "^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$"
         },
         "status": {
          "type": "string",
          "enum": [
           "True",
           "False",
           "Unknown"
          ]
         },
         "observedGeneration": {
          "type": "integer",
          "format": "int64",
          "minimum": 0,
          "maximum": 9007199254740991
         },
         "lastTransitionTime": {
          "type": "string",
          "format": "date-time",
          "maxLength": 64,
          "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$"
         },
         "reason": {
          "type": "string",
          "minLength": 1,
          "maxLength": 1024,
          "pattern": "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$"
         },
         "message": {
          "type": "string",
          "maxLength": 32768
         }
        }
       }
      },
      "balance": {
       "type": "object",
       "properties": {
        "granted": {
         "type": "string",
         "maxLength": 32
        },
        "consumed": {
         "type": "string",
         "maxLength": 32
        },
        "reserved": {
         "type": "string",
         "maxLength": 32
        },
        "observedAt": {
         "type": "string",
         "format": "date-time",
         "maxLength": 64,
         "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$"
        }
       }
      },
      "keys": {
       "type": "integer",
       "format": "int32",
       "minimum": 0,
       "maximum": 1000000000
      }
     }
    }
   }
  }
 },
 {
  "apiVersion": "tollgate.dev/v1alpha1",
  "kind": "ApiKey",
  "scope": "Namespaced",
  "schema": {
   "type": "object",
   "required": [
    "spec"
   ],
   "properties": {
    "apiVersion": {
     "type": "string"
    },
    "kind": {
     "type": "string"
    },
    "metadata": {
     "type": "object"
    },
    "spec": {
     "type": "object",
     "required": [
      "credentials"
     ],
     "properties": {
      "displayName": {
       "type": "string",
       "maxLength": 128
      },
      "state": {
       "type": "string",
       "enum": [
        "Active",
        "Suspended"
       ],
       "default": "Active"
      },
      "expiresAt": {
       "type": "string",
       "format": "date-time",
       "maxLength": 64,
       "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$",
       "x-kubernetes-validations": [
        {
         "rule": "self >= timestamp('1970-01-01T00:00:00Z')",
         "message": "write a time from 1970 on, for example 2026-12-31T00:00:00Z",
         "reason": "FieldValueInvalid"
        }
       ]
      },
      "accountRef": {
       "type": "object",
       "required": [
        "name"
       ],
       "properties": {
        "name": {
         "type": "string",
         "minLength": 1,
         "maxLength": 253,
         "pattern": "^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$"
        }
       }
      },
      "credentials": {
       "type": "array",
       "minItems": 1,
       "maxItems": 4,
       "x-kubernetes-list-type": "map",
       "x-kubernetes-list-map-keys": [
        "name"
       ],
       "items": {
        "type": "object",
        "required": [
         "name"
        ],
        "properties": {
         "name": {
          "type": "string",
          "minLength": 1,
          "maxLength": 63,
          "pattern": "^[a-z0-9]([a-z0-9-]*[a-z0-9])?$"
         },
         "secretKeyRef": {
          "type": "object",
          "required": [
           "name"
          ],
          "properties": {
           "name": {
            "type": "string",
            "minLength": 1,
            "maxLength": 253,
            "pattern": "^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$"
           },
           "key": {
            "type": "string",
            "minLength": 1,
            "maxLength": 253,
            "pattern": "^[-._a-zA-Z0-9]+$",
            "default": "apiKey"
           }
          }
         },
         "sha256": {
          "type": "string",
          "minLength": 64,
          "maxLength": 64,
          "pattern": "^[a-f0-9]{64}$"
         },
         "generate": {
          "type": "object",
          "required": [
           "secretName"
          ],
          "properties": {
           "secretName": {
            "type": "string",
            "minLength": 1,
            "maxLength": 253,
            "pattern": "^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$"
           },
           "prefix": {
            "type": "string",
            "default": "sk-",
            "minLength": 3,
            "maxLength": 32,
            "pattern": "^sk-[A-Za-z0-9_-]*$"
           }
          }
         },
         "notBefore": {
          "type": "string",
          "format": "date-time",
          "maxLength": 64,
          "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$",
          "x-kubernetes-validations": [
           {
            "rule": "self >= timestamp('1970-01-01T00:00:00Z')",
            "message": "write a time from 1970 on, for example 2026-12-31T00:00:00Z",
            "reason": "FieldValueInvalid"
           }
          ]
         },
         "notAfter": {
          "type": "string",
          "format": "date-time",
          "maxLength": 64,
          "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$",
          "x-kubernetes-validations": [
           {
            "rule": "self >= timestamp('1970-01-01T00:00:00Z')",
            "message": "write a time from 1970 on, for example 2026-12-31T00:00:00Z",
            "reason": "FieldValueInvalid"
           }
          ]
         }
        },
        "x-kubernetes-validations": [
         {
          "rule": "(has(self.secretKeyRef) ? 1 : 0) + (has(self.sha256) ? 1 : 0) + (has(self.generate) ? 1 : 0) == 1",
          "message": "give exactly one of secretKeyRef, sha256 and generate",
          "reason": "FieldValueInvalid"
         },
         {
          "rule": "!has(self.notBefore) || !has(self.notAfter) || self.notBefore < self.notAfter",
          "message": "set notAfter to a time after notBefore",
          "fieldPath": ".notAfter",
          "reason": "FieldValueInvalid"
         },
         {
          "rule": "has(self.generate) == has(oldSelf.generate) && (!has(self.generate) || self.generate.secretName == oldSelf.generate.secretName)",
          "message": "generate.secretName cannot be changed, added or removed; add a credential with another name instead",
          "fieldPath": ".generate",
          "reason": "FieldValueForbidden"
         }
        ]
       }
      },
      "models": {
       "type": "object",
       "properties": {
        "allow": {
         "type": "array",
         "minItems": 1,
         "maxItems": 256,
         "x-kubernetes-list-type": "set",
         "items": {
          "type": "string",
          "minLength": 1,
          "maxLength": 256,
          "x-kubernetes-validations": [
           {
            "rule": "self.matches('^([*]|[!-)+-~]+[*]?|[*][!-)+-~]+)$')",
            "message": "write an exact model name, `prefix*`, `*suffix` or `*`; a wildcard may occur once and only at an end",
            "reason": "FieldValueInvalid"
           }
          ]
         },
         "x-kubernetes-validations": [
          {
           "rule": "size(self) <= 1 || self.all(pattern, pattern != '*')",
           "message": "leave `*` alone in its list: it already covers every other entry",
           "reason": "FieldValueInvalid"
          }
         ]
        },
        "deny": {
         "type": "array",
         "maxItems": 256,
         "x-kubernetes-list-type": "set",
         "items": {
          "type": "string",
          "minLength": 1,
          "maxLength": 256,
          "x-kubernetes-validations": [
           {
            "rule": "self.matches('^([*]|[!-)+-~]+[*]?|[*][!-)+-~]+)$')",
            "message": "write an exact model name, `prefix*`, `*suffix` or `*`; a wildcard may occur once and only at an end",
            "reason": "FieldValueInvalid"
           }
          ]
         },
         "x-kubernetes-validations": [
          {
           "rule": "size(self) <= 1 || self.all(pattern, pattern != '*')",
           "message": "leave `*` alone in its list: it already covers every other entry",
           "reason": "FieldValueInvalid"
          }
         ]
        }
       }
      },
      "protocols": {
       "type": "array",
       "minItems": 1,
       "maxItems": 3,
       "x-kubernetes-list-type": "set",
       "items": {
        "type": "string",
        "enum": [
         "OpenAI",
         "Anthropic",
         "Gemini"
        ]
       }
      },
      "capabilities": {
       "type": "array",
       "minItems": 1,
       "maxItems": 16,
       "x-kubernetes-list-type": "set",
       "items": {
        "type": "string",
        "enum": [
         "Chat",
         "Completion",
         "CountTokens",
         "Embeddings",
         "Rerank",
         "Speech",
         "Transcription",
         "Translation",
         "ImageGeneration",
         "ImageEdit",
         "Moderation",
         "Realtime",
         "Models",
         "Passthrough"
        ]
       }
      },
      "clientCIDRs": {
       "type": "object",
       "properties": {
        "allow": {
         "type": "array",
         "minItems": 1,
         "maxItems": 64,
         "x-kubernetes-list-type": "set",
         "items": {
          "type": "string",
          "minLength": 1,
          "maxLength": 64,
          "x-kubernetes-validations": [
           {
            "rule": "isCIDR(self)",
            "message": "write a network with its prefix length, for example 10.0.0.0/8 or 2001:db8::1/128",
            "reason": "FieldValueInvalid"
           }
          ]
         }
        },
        "deny": {
         "type": "array",
         "maxItems": 64,
         "x-kubernetes-list-type": "set",
         "items": {
          "type": "string",
          "minLength": 1,
          "maxLength": 64,
          "x-kubernetes-validations": [
           {
            "rule": "isCIDR(self)",
            "message": "write a network with its prefix length, for example 10.0.0.0/8 or 2001:db8::1/128",
            "reason": "FieldValueInvalid"
           }
          ]
         }
        }
       }
      },
      "limits": {
       "type": "array",
       "maxItems": 8,
       "x-kubernetes-list-type": "map",
       "x-kubernetes-list-map-keys": [
        "name"
       ],
       "items": {
        "type": "object",
        "required": [
         "name",
         "unit",
         "limit",
         "period"
        ],
        "properties": {
         "name": {
          "type": "string",
          "minLength": 1,
          "maxLength": 63,
          "pattern": "^[a-z0-9]([a-z0-9-]*[a-z0-9])?$"
         },
         "unit": {
          "type": "string",
          "enum": [
           "Requests",
           "Tokens",
           "InputTokens",
           "OutputTokens",
           "Cost"
          ]
         },
         "limit": {
          "type": "string",
          "minLength": 1,
          "maxLength": 16,
          "pattern": "^[0-9]{1,15}(\\.[0-9]{1,6})?[kMG]?$"
         },
         "period": {
          "type": "string",
          "enum": [
           "Second",
           "Minute",
           "Hour",
           "Day",
           "Week",
           "Month",
           "Lifetime"
          ]
         },
         "timeZone": {
          "type": "string",
          "minLength": 1,
          "maxLength": 64,
          "pattern": "^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$"
         },
         "algorithm": {
          "type": "string",
          "enum": [
           "FixedWindow",
           "TokenBucket"
          ]
         },
         "burst": {
          "type": "integer",
          "format": "int64",
          "minimum": 1,
          "maximum": 999999999999999
         },
         "mode": {
          "type": "string",
          "enum": [
           "Enforce",
           "Shadow"
          ],
          "default": "Enforce"
         },
         "models": {
          "type": "array",
          "minItems": 1,
          "maxItems": 16,
          "x-kubernetes-list-type": "set",
          "items": {
           "type": "string",
           "minLength": 1,
           "maxLength": 256,
           "x-kubernetes-validations": [
            {
             "rule": "self.matches('^([*]|[!-)+-~]+[*]?|[*][!-)+-~]+)$')",
             "message": "write an exact model name, `prefix*`, `*suffix` or `*`; a wildcard may occur once and only at an end",
             "reason": "FieldValueInvalid"
            }
           ]
          },
          "x-kubernetes-validations": [
           {
            "rule": "size(self) <= 1 || self.all(pattern, pattern != '*')",
            "message": "leave `*` alone in its list: it already covers every other entry",
            "reason": "FieldValueInvalid"
           }
          ]
         }
        },
        "x-kubernetes-validations": [
         {
          "rule": "self.unit == 'Cost' || self.limit.matches('^[0-9]+([.][0-9]{1,3}k|[.][0-9]{1,6}[MG]|[kMG])?$')",
          "message": "write a whole number: only unit Cost takes a fraction",
          "fieldPath": ".limit",
          "reason": "FieldValueInvalid"
         },
         {
          "rule": "self.unit != 'Cost' || quantity(self.limit).compareTo(quantity('9G')) <= 0",
          "message": "set at most 9G (9,000,000,000 credits)",
          "fieldPath": ".limit",
          "reason": "FieldValueInvalid"
         },
         {
          "rule": "self.unit == 'Cost' || quantity(self.limit).compareTo(quantity('999999999999999')) <= 0",
          "message": "set at most 999999999999999 (15 digits)",
          "fieldPath": ".limit",
          "reason": "FieldValueInvalid"
         },
         {
          "rule": "!has(self.timeZone) || self.period in ['Day', 'Week', 'Month']",
          "message": "remove timeZone or set period to Day, Week or Month: only these follow a calendar",
          "fieldPath": ".timeZone",
          "reason": "FieldValueForbidden"
         },
         {
          "rule": "!has(self.algorithm) || self.algorithm != 'TokenBucket' || self.period in ['Second', 'Minute', 'Hour']",
          "message": "use FixedWindow, or set period to Second, Minute or Hour: a TokenBucket fits no longer period",
          "fieldPath": ".algorithm",
          "reason": "FieldValueInvalid"
         },
         {
          "rule": "!has(self.burst) || (has(self.algorithm) ? self.algorithm == 'TokenBucket' : self.period in ['Second', 'Minute', 'Hour'])",
          "message": "remove burst or use algorithm TokenBucket with period Second, Minute or Hour: only a bucket has a size",
          "fieldPath": ".burst",
          "reason": "FieldValueForbidden"
         }
        ]
       }
      },
      "concurrency": {
       "type": "object",
       "required": [
        "maxInFlight"
       ],
       "properties": {
        "maxInFlight": {
         "type": "integer",
         "format": "int32",
         "minimum": 1,
         "maximum": 100000
        }
       }
      },
      "metadata": {
       "type": "object",
       "maxProperties": 16,
       "additionalProperties": {
        "type": "string",
        "maxLength": 256
       },
       "x-kubernetes-validations": [
        {
         "rule": "self.all(key, size(key) <= 63 && key.matches('^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$'))",
         "message": "use keys of at most 63 letters, digits, dots, dashes and underscores that begin and end with a letter or digit",
         "reason": "FieldValueInvalid"
        },
        {
         "rule": "self.all(key, !self[key].startsWith('sk-'))",
         "message": "remove the secret: metadata is written to logs",
         "reason": "FieldValueInvalid"
        }
       ]
      }
     },
     "x-kubernetes-validations": [
      {
       "rule": "has(self.accountRef) == has(oldSelf.accountRef) && (!has(self.accountRef) || self.accountRef.name == oldSelf.accountRef.name)",
       "message": "accountRef cannot be changed, added or removed; create another ApiKey for the other account",
       "fieldPath": ".accountRef",
       "reason": "FieldValueForbidden"
      }
     ]
    },
    "status": {
     "type": "object",
     "properties": {
      "observedGeneration": {
       "type": "integer",
       "format": "int64",
       "minimum": 0,
       "maximum": 9007199254740991
      },
      "conditions": {
       "type": "array",
       "maxItems": 8,
       "x-kubernetes-list-type": "map",
       "x-kubernetes-list-map-keys": [
        "type"
       ],
       "items": {
        "type": "object",
        "required": [
         "type",
         "status",
         "lastTransitionTime",
         "reason",
         "message"
        ],
        "properties": {
         "type": {
          "type": "string",
          "maxLength": 316,
          "pattern": "^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$"
         },
         "status": {
          "type": "string",
          "enum": [
           "True",
           "False",
           "Unknown"
          ]
         },
         "observedGeneration": {
          "type": "integer",
          "format": "int64",
          "minimum": 0,
          "maximum": 9007199254740991
         },
         "lastTransitionTime": {
          "type": "string",
          "format": "date-time",
          "maxLength": 64,
          "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$"
         },
         "reason": {
          "type": "string",
          "minLength": 1,
          "maxLength": 1024,
          "pattern": "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$"
         },
         "message": {
          "type": "string",
          "maxLength": 32768
         }
        }
       }
      },
      "credentials": {
       "type": "array",
       "maxItems": 4,
       "x-kubernetes-list-type": "map",
       "x-kubernetes-list-map-keys": [
        "name"
       ],
       "items": {
        "type": "object",
        "required": [
         "name"
        ],
        "properties": {
         "name": {
          "type": "string",
          "minLength": 1,
          "maxLength": 63,
          "pattern": "^[a-z0-9]([a-z0-9-]*[a-z0-9])?$"
         },
         "fingerprint": {
          "type": "string",
          "maxLength": 12,
          "pattern": "^[a-f0-9]{12}$"
         },
         "displayPrefix": {
          "type": "string",
          "maxLength": 48
         },
         "secretResourceVersion": {
          "type": "string",
          "maxLength": 64
         },
         "active": {
          "type": "string",
          "enum": [
           "True",
           "False",
           "Pending"
          ]
         },
         "reason": {
          "type": "string",
          "maxLength": 64
         }
        }
       }
      },
      "usage": {
       "type": "array",
       "maxItems": 8,
       "x-kubernetes-list-type": "map",
       "x-kubernetes-list-map-keys": [
        "name"
       ],
       "items": {
        "type": "object",
        "required": [
         "name"
        ],
        "properties": {
         "name": {
          "type": "string",
          "minLength": 1,
          "maxLength": 63,
          "pattern": "^[a-z0-9]([a-z0-9-]*[a-z0-9])?$"
         },
         "used": {
          "type": "string",
          "maxLength": 32
         },
         "limit": {
          "type": "string",
          "maxLength": 32
         },
         "resetAt": {
          "type": "string",
          "format": "date-time",
          "maxLength": 64,
          "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$"
         },
         "observedAt": {
          "type": "string",
          "format": "date-time",
          "maxLength": 64,
          "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$"
         }
        }
       }
      },
      "lastUsedTime": {
       "type": "string",
       "format": "date-time",
       "maxLength": 64,
       "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$"
      }
     }
    }
   }
  }
 },
 {
  "apiVersion": "tollgate.dev/v1alpha1",
  "kind": "Channel",
  "scope": "Namespaced",
  "schema": {
   "type": "object",
   "required": [
    "spec"
   ],
   "properties": {
    "apiVersion": {
     "type": "string"
    },
    "kind": {
     "type": "string"
    },
    "metadata": {
     "type": "object"
    },
    "spec": {
     "type": "object",
     "properties": {
      "provider": {
       "type": "string",
       "enum": [
        "OpenAI",
        "Anthropic",
        "Gemini",
        "AzureOpenAI",
        "Bedrock",
        "VertexAI",
        "Cohere",
        "OpenAICompatible",
        "AnthropicCompatible",
        "GeminiCompatible"
       ]
      },
      "preset": {
       "type": "string",
       "enum": [
        "anthropic",
        "anthropic-compatible",
        "azure-openai",
        "azure-openai-v1",
        "cerebras",
        "cohere",
        "deepseek",
        "deepseek-anthropic",
        "fireworks",
        "gemini",
        "gemini-compatible",
        "groq",
        "jina",
        "mistral",
        "ollama",
        "openai",
        "openai-compatible",
        "openrouter",
        "perplexity",
        "siliconflow",
        "tei",
        "together",
        "vllm",
        "voyage",
        "xai"
       ]
      },
      "baseURL": {
       "type": "string",
       "minLength": 1,
       "maxLength": 2048,
       "x-kubernetes-validations": [
        {
         "rule": "self.matches('^https?://([A-Za-z0-9_-]+([.][A-Za-z0-9_-]+)*|\\\\[[0-9A-Fa-f:.]+\\\\])(:[0-9]{1,5})?(/[!-\"$->@-~]*)?$')",
         "message": "write an absolute http or https URL with a host, without user, query or fragment",
         "reason": "FieldValueInvalid"
        }
       ]
      },
      "state": {
       "type": "string",
       "enum": [
        "Active",
        "Draining",
        "Disabled"
       ],
       "default": "Active"
      },
      "upstreamObjects": {
       "type": "string",
       "enum": [
        "Refuse",
        "Shared"
       ],
       "default": "Refuse"
      },
      "azure": {
       "type": "object",
       "required": [
        "apiVersion"
       ],
       "properties": {
        "apiVersion": {
         "type": "string",
         "minLength": 1,
         "maxLength": 32,
         "pattern": "^[A-Za-z0-9][A-Za-z0-9.-]*$"
        }
       }
      },
      "bedrock": {
       "type": "object",
       "required": [
        "region"
       ],
       "properties": {
        "region": {
         "type": "string",
         "minLength": 1,
         "maxLength": 63,
         "pattern": "^[a-z0-9]([a-z0-9-]*[a-z0-9])?$"
        }
       }
      },
      "vertexAI": {
       "type": "object",
       "required": [
        "project",
        "region"
       ],
       "properties": {
        "project": {
         "type": "string",
         "minLength": 1,
         "maxLength": 63,
         "pattern": "^[a-z0-9][a-z0-9.:-]*$"
        },
        "region": {
         "type": "string",
         "minLength": 1,
         "maxLength": 63,
         "pattern": "^[a-z0-9]([a-z0-9-]*[a-z0-9])?$"
        }
       }
      },
      "formats": {
       "type": "array",
       "minItems": 1,
       "maxItems": 32,
       "x-kubernetes-list-type": "map",
       "x-kubernetes-list-map-keys": [
        "type"
       ],
       "items": {
        "type": "object",
        "required": [
         "type"
        ],
        "properties": {
         "type": {
          "type": "string",
          "enum": [
           "ChatCompletions",
           "Responses",
           "Messages",
           "GenerateContent",
           "Completions",
           "Embeddings",
           "EmbedContent",
           "Rerank",
           "ImageGenerations",
           "ImageEdits",
           "ImageVariations",
           "Predict",
           "Speech",
           "Transcriptions",
           "Translations",
           "Moderations",
           "Realtime",
           "CountTokens",
           "Passthrough"
          ]
         },
         "path": {
          "type": "string",
          "minLength": 1,
          "maxLength": 1024,
          "pattern": "^/[!-\"$->@-~]*$"
         },
         "dialect": {
          "type": "string",
          "enum": [
           "OpenAI",
           "Cohere",
           "Voyage",
           "Jina",
           "TEI"
          ]
         },
         "paths": {
          "type": "array",
          "minItems": 1,
          "maxItems": 32,
          "x-kubernetes-list-type": "set",
          "items": {
           "type": "string",
           "minLength": 1,
           "maxLength": 1024,
           "pattern": "^/[!-\"$->@-~]*$"
          }
         }
        },
        "x-kubernetes-validations": [
         {
          "rule": "(self.type == 'Passthrough') == has(self.paths)",
          "message": "give paths for Passthrough, and only there",
          "fieldPath": ".paths",
          "reason": "FieldValueInvalid"
         },
         {
          "rule": "self.type != 'Passthrough' || !has(self.path)",
          "message": "use paths instead of path for Passthrough",
          "fieldPath": ".path",
          "reason": "FieldValueForbidden"
         },
         {
          "rule": "!has(self.dialect) || self.type == 'Embeddings' || (self.type == 'Rerank' && self.dialect != 'OpenAI')",
          "message": "remove dialect: only Embeddings and Rerank have some, and Rerank has no dialect OpenAI",
          "fieldPath": ".dialect",
          "reason": "FieldValueForbidden"
         }
        ]
       }
      },
      "credentials": {
       "type": "array",
       "maxItems": 32,
       "x-kubernetes-list-type": "map",
       "x-kubernetes-list-map-keys": [
        "name"
       ],
       "items": {
        "type": "object",
        "required": [
         "name",
         "secretKeyRef"
        ],
        "properties": {
         "name": {
          "type": "string",
          "minLength": 1,
          "maxLength": 63,
          "pattern": "^[a-z0-9]([a-z0-9-]*[a-z0-9])?$"
         },
         "secretKeyRef": {
          "type": "object",
          "required": [
           "name"
          ],
          "properties": {
           "name": {
            "type": "string",
            "minLength": 1,
            "maxLength": 253,
            "pattern": "^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$"
           },
           "key": {
            "type": "string",
            "minLength": 1,
            "maxLength": 253,
            "pattern": "^[-._a-zA-Z0-9]+$",
            "default": "apiKey"
           }
          }
         },
         "weight": {
          "type": "integer",
          "format": "int32",
          "minimum": 0,
          "maximum": 1000000,
          "default": 1
         },
         "state": {
          "type": "string",
          "enum": [
           "Active",
           "Draining",
           "Disabled"
          ],
          "default": "Active"
         }
        }
       }
      },
      "auth": {
       "type": "object",
       "required": [
        "location",
        "scheme"
       ],
       "properties": {
        "location": {
         "type": "object",
         "properties": {
          "header": {
           "type": "string",
           "minLength": 1,
           "maxLength": 128,
           "pattern": "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$"
          },
          "query": {
           "type": "string",
           "minLength": 1,
           "maxLength": 128,
           "pattern": "^[A-Za-z0-9._~-]+$"
          }
         },
         "x-kubernetes-validations": [
          {
           "rule": "has(self.header) != has(self.query)",
           "message": "give exactly one of header and query",
           "reason": "FieldValueInvalid"
          }
         ]
        },
        "scheme": {
         "type": "string",
         "enum": [
          "Bearer",
          "Raw"
         ]
        }
       },
       "x-kubernetes-validations": [
        {
         "rule": "!has(self.location.query) || self.scheme == 'Raw'",
         "message": "use scheme Raw for a query parameter",
         "fieldPath": ".scheme",
         "reason": "FieldValueInvalid"
        }
       ]
      },
      "models": {
       "type": "array",
       "minItems": 1,
       "maxItems": 512,
       "x-kubernetes-list-type": "map",
       "x-kubernetes-list-map-keys": [
        "name"
       ],
       "items": {
        "type": "object",
        "required": [
         "name"
        ],
        "properties": {
         "name": {
          "type": "string",
          "minLength": 1,
          "maxLength": 256,
          "x-kubernetes-validations": [
           {
            "rule": "self.matches('^([*]|[!-)+-~]+[*]?)$')",
            "message": "write an exact model name, `prefix*` or `*`; a wildcard may occur once and only at the end",
            "reason": "FieldValueInvalid"
           }
          ]
         },
         "upstreamName": {
          "type": "string",
          "minLength": 1,
          "maxLength": 256
         },
         "capabilities": {
          "type": "array",
          "minItems": 1,
          "maxItems": 16,
          "x-kubernetes-list-type": "set",
          "items": {
           "type": "string",
           "enum": [
            "Chat",
            "Completion",
            "CountTokens",
            "Embeddings",
            "Rerank",
            "Speech",
            "Transcription",
            "Translation",
            "ImageGeneration",
            "ImageEdit",
            "Moderation",
            "Realtime",
            "Models",
            "Passthrough"
           ]
          }
         },
         "traits": {
          "type": "object",
          "properties": {
           "like": {
            "type": "string",
            "minLength": 1,
            "maxLength": 256
           },
           "maxOutputTokens": {
            "type": "integer",
            "format": "int32",
            "minimum": 1,
            "maximum": 2147483647
           },
           "thinking": {
            "type": "string",
            "enum": [
             "None",
             "Optional",
             "Always"
            ]
           },
           "forcedTools": {
            "type": "string",
            "enum": [
             "Accepted",
             "Refused"
            ]
           },
           "toolsWithThinking": {
            "type": "string",
            "enum": [
             "Accepted",
             "Refused"
            ]
           },
           "hostedToolsWithFunctions": {
            "type": "string",
            "enum": [
             "Accepted",
             "Refused"
            ]
           },
           "sampling": {
            "type": "string",
            "enum": [
             "Accepted",
             "Refused"
            ]
           }
          }
         }
        }
       }
      },
      "headers": {
       "type": "object",
       "properties": {
        "set": {
         "type": "array",
         "maxItems": 16,
         "x-kubernetes-list-type": "map",
         "x-kubernetes-list-map-keys": [
          "name"
         ],
         "items": {
          "type": "object",
          "required": [
           "name",
           "value"
          ],
          "properties": {
           "name": {
            "type": "string",
            "minLength": 1,
            "maxLength": 128,
            "pattern": "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$",
            "x-kubernetes-validations": [
             {
              "rule": "!self.matches('^(?i:connection|keep-alive|proxy-authenticate|proxy-authorization|proxy-connection|te|trailer|transfer-encoding|upgrade|host|content-length|expect|authorization|x-api-key|api-key|x-goog-api-key|cookie|set-cookie)$')",
              "message": "choose another header: credentials are set by spec.auth and connection headers by the gateway",
              "reason": "FieldValueInvalid"
             }
            ]
           },
           "value": {
            "type": "string",
            "maxLength": 4096,
            "pattern": "^[\\t -~]*$"
           }
          }
         }
        },
        "remove": {
         "type": "array",
         "maxItems": 16,
         "x-kubernetes-list-type": "set",
         "items": {
          "type": "string",
          "minLength": 1,
          "maxLength": 128,
          "pattern": "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$",
          "x-kubernetes-validations": [
           {
            "rule": "!self.matches('^(?i:connection|keep-alive|proxy-authenticate|proxy-authorization|proxy-connection|te|trailer|transfer-encoding|upgrade|host|content-length|expect|authorization|x-api-key|api-key|x-goog-api-key|cookie|set-cookie)$')",
            "message": "choose another header: credentials are set by spec.auth and connection headers by the gateway",
            "reason": "FieldValueInvalid"
           }
          ]
         }
        }
       }
      },
      "body": {
       "type": "object",
       "properties": {
        "default": {
         "type": "array",
         "maxItems": 64,
         "x-kubernetes-list-type": "map",
         "x-kubernetes-list-map-keys": [
          "field"
         ],
         "items": {
          "type": "object",
          "required": [
           "field",
           "value"
          ],
          "properties": {
           "field": {
            "type": "string",
            "minLength": 1,
            "maxLength": 256,
            "x-kubernetes-validations": [
             {
              "rule": "!(self in ['model', 'stream'])",
              "message": "choose the model with upstreamModel; stream is the caller's choice",
              "reason": "FieldValueInvalid"
             }
            ]
           },
           "value": {
            "nullable": true,
            "x-kubernetes-preserve-unknown-fields": true
           }
          }
         }
        },
        "set": {
         "type": "array",
         "maxItems": 64,
         "x-kubernetes-list-type": "map",
         "x-kubernetes-list-map-keys": [
          "field"
         ],
         "items": {
          "type": "object",
          "required": [
           "field",
           "value"
          ],
          "properties": {
           "field": {
            "type": "string",
            "minLength": 1,
            "maxLength": 256,
            "x-kubernetes-validations": [
             {
              "rule": "!(self in ['model', 'stream'])",
              "message": "choose the model with upstreamModel; stream is the caller's choice",
              "reason": "FieldValueInvalid"
             }
            ]
           },
           "value": {
            "nullable": true,
            "x-kubernetes-preserve-unknown-fields": true
           }
          }
         }
        },
        "remove": {
         "type": "array",
         "maxItems": 64,
         "x-kubernetes-list-type": "set",
         "items": {
          "type": "string",
          "minLength": 1,
          "maxLength": 256,
          "x-kubernetes-validations": [
           {
            "rule": "!(self in ['model', 'stream'])",
            "message": "leave model and stream: the gateway needs both",
            "reason": "FieldValueInvalid"
           }
          ]
         }
        }
       }
      },
      "privacy": {
       "type": "object",
       "default": {},
       "properties": {
        "store": {
         "type": "string",
         "enum": [
          "PassThrough",
          "ForceFalse"
         ],
         "default": "PassThrough"
        },
        "safetyIdentifier": {
         "type": "string",
         "enum": [
          "Strip",
          "Forward"
         ],
         "default": "Strip"
        },
        "streamObfuscation": {
         "type": "string",
         "enum": [
          "Strip",
          "Forward"
         ],
         "default": "Strip"
        },
        "clientMetadata": {
         "type": "string",
         "enum": [
          "Forward",
          "Strip"
         ],
         "default": "Forward"
        }
       }
      },
      "unsupportedParameters": {
       "type": "string",
       "enum": [
        "Ignore",
        "Reject"
       ],
       "default": "Ignore"
      },
      "timeouts": {
       "type": "object",
       "properties": {
        "connect": {
         "type": "string",
         "maxLength": 32,
         "pattern": "^([0-9]{1,5}(h|m|s|ms)){1,4}$"
        },
        "firstByte": {
         "type": "string",
         "maxLength": 32,
         "pattern": "^([0-9]{1,5}(h|m|s|ms)){1,4}$"
        },
        "streamIdle": {
         "type": "string",
         "maxLength": 32,
         "pattern": "^([0-9]{1,5}(h|m|s|ms)){1,4}$"
        },
        "total": {
         "type": "string",
         "maxLength": 32,
         "pattern": "^([0-9]{1,5}(h|m|s|ms)){1,4}$"
        }
       }
      },
      "limits": {
       "type": "array",
       "maxItems": 8,
       "x-kubernetes-list-type": "map",
       "x-kubernetes-list-map-keys": [
        "name"
       ],
       "items": {
        "type": "object",
        "required": [
         "name",
         "unit",
         "limit",
         "period"
        ],
        "properties": {
         "name": {
          "type": "string",
          "minLength": 1,
          "maxLength": 63,
          "pattern": "^[a-z0-9]([a-z0-9-]*[a-z0-9])?$"
         },
         "unit": {
          "type": "string",
          "enum": [
           "Requests",
           "Tokens",
           "InputTokens",
           "OutputTokens",
           "Cost"
          ]
         },
         "limit": {
          "type": "string",
          "minLength": 1,
          "maxLength": 16,
          "pattern": "^[0-9]{1,15}(\\.[0-9]{1,6})?[kMG]?$"
         },
         "period": {
          "type": "string",
          "enum": [
           "Second",
           "Minute",
           "Hour",
           "Day",
           "Week",
           "Month",
           "Lifetime"
          ]
         },
         "timeZone": {
          "type": "string",
          "minLength": 1,
          "maxLength": 64,
          "pattern": "^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$"
         },
         "algorithm": {
          "type": "string",
          "enum": [
           "FixedWindow",
           "TokenBucket"
          ]
         },
         "burst": {
          "type": "integer",
          "format": "int64",
          "minimum": 1,
          "maximum": 999999999999999
         },
         "mode": {
          "type": "string",
          "enum": [
           "Enforce",
           "Shadow"
          ],
          "default": "Enforce"
         },
         "models": {
          "type": "array",
          "minItems": 1,
          "maxItems": 16,
          "x-kubernetes-list-type": "set",
          "items": {
           "type": "string",
           "minLength": 1,
           "maxLength": 256,
           "x-kubernetes-validations": [
            {
             "rule": "self.matches('^([*]|[!-)+-~]+[*]?|[*][!-)+-~]+)$')",
             "message": "write an exact model name, `prefix*`, `*suffix` or `*`; a wildcard may occur once and only at an end",
             "reason": "FieldValueInvalid"
            }
           ]
          },
          "x-kubernetes-validations": [
           {
            "rule": "size(self) <= 1 || self.all(pattern, pattern != '*')",
            "message": "leave `*` alone in its list: it already covers every other entry",
            "reason": "FieldValueInvalid"
           }
          ]
         }
        },
        "x-kubernetes-validations": [
         {
          "rule": "self.unit == 'Cost' || self.limit.matches('^[0-9]+([.][0-9]{1,3}k|[.][0-9]{1,6}[MG]|[kMG])?$')",
          "message": "write a whole number: only unit Cost takes a fraction",
          "fieldPath": ".limit",
          "reason": "FieldValueInvalid"
         },
         {
          "rule": "self.unit != 'Cost' || quantity(self.limit).compareTo(quantity('9G')) <= 0",
          "message": "set at most 9G (9,000,000,000 credits)",
          "fieldPath": ".limit",
          "reason": "FieldValueInvalid"
         },
         {
          "rule": "self.unit == 'Cost' || quantity(self.limit).compareTo(quantity('999999999999999')) <= 0",
          "message": "set at most 999999999999999 (15 digits)",
          "fieldPath": ".limit",
          "reason": "FieldValueInvalid"
         },
         {
          "rule": "!has(self.timeZone) || self.period in ['Day', 'Week', 'Month']",
          "message": "remove timeZone or set period to Day, Week or Month: only these follow a calendar",
          "fieldPath": ".timeZone",
          "reason": "FieldValueForbidden"
         },
         {
          "rule": "!has(self.algorithm) || self.algorithm != 'TokenBucket' || self.period in ['Second', 'Minute', 'Hour']",
          "message": "use FixedWindow, or set period to Second, Minute or Hour: a TokenBucket fits no longer period",
          "fieldPath": ".algorithm",
          "reason": "FieldValueInvalid"
         },
         {
          "rule": "!has(self.burst) || (has(self.algorithm) ? self.algorithm == 'TokenBucket' : self.period in ['Second', 'Minute', 'Hour'])",
          "message": "remove burst or use algorithm TokenBucket with period Second, Minute or Hour: only a bucket has a size",
          "fieldPath": ".burst",
          "reason": "FieldValueForbidden"
         }
        ]
       }
      },
      "concurrency": {
       "type": "object",
       "properties": {
        "maxInFlight": {
         "type": "integer",
         "format": "int32",
         "minimum": 1,
         "maximum": 1000000
        },
        "maxQueue": {
         "type": "integer",
         "format": "int32",
         "minimum": 0,
         "maximum": 100000
        },
        "queueTimeout": {
         "type": "string",
         "maxLength": 32,
         "pattern": "^([0-9]{1,5}(h|m|s|ms)){1,4}$"
        }
       },
       "x-kubernetes-validations": [
        {
         "rule": "!has(self.queueTimeout) || (has(self.maxQueue) && self.maxQueue > 0)",
         "message": "set maxQueue to let calls wait, or remove queueTimeout",
         "fieldPath": ".queueTimeout",
         "reason": "FieldValueForbidden"
        },
        {
         "rule": "!has(self.maxQueue) || self.maxQueue == 0 || has(self.maxInFlight)",
         "message": "set maxInFlight: without it nothing ever waits",
         "fieldPath": ".maxInFlight",
         "reason": "FieldValueRequired"
        }
       ]
      },
      "health": {
       "type": "object",
       "properties": {
        "passive": {
         "type": "object",
         "properties": {
          "consecutiveFailures": {
           "type": "integer",
           "format": "int32",
           "minimum": 1,
           "maximum": 100
          },
          "failureStatuses": {
           "type": "array",
           "minItems": 1,
           "maxItems": 32,
           "x-kubernetes-list-type": "set",
           "items": {
            "type": "integer",
            "format": "int32",
            "minimum": 400,
            "maximum": 599
           }
          },
          "baseEjection": {
           "type": "string",
           "maxLength": 32,
           "pattern": "^([0-9]{1,5}(h|m|s|ms)){1,4}$"
          },
          "maxEjection": {
           "type": "string",
           "maxLength": 32,
           "pattern": "^([0-9]{1,5}(h|m|s|ms)){1,4}$"
          },
          "restoreTrafficPercent": {
           "type": "integer",
           "format": "int32",
           "minimum": 1,
           "maximum": 100
          }
         }
        },
        "active": {
         "type": "object",
         "required": [
          "interval",
          "timeout"
         ],
         "properties": {
          "interval": {
           "type": "string",
           "maxLength": 32,
           "pattern": "^([0-9]{1,5}(h|m|s|ms)){1,4}$"
          },
          "timeout": {
           "type": "string",
           "maxLength": 32,
           "pattern": "^([0-9]{1,5}(h|m|s|ms)){1,4}$"
          },
          "path": {
           "type": "string",
           "minLength": 1,
           "maxLength": 1024,
           "pattern": "^/[!-\"$->@-~]*$"
          },
          "probeModel": {
           "type": "string",
           "minLength": 1,
           "maxLength": 256
          }
         },
         "x-kubernetes-validations": [
          {
           "rule": "has(self.path) != has(self.probeModel)",
           "message": "give exactly one of path and probeModel",
           "reason": "FieldValueInvalid"
          }
         ]
        }
       }
      },
      "tls": {
       "type": "object",
       "properties": {
        "caBundleRef": {
         "type": "object",
         "required": [
          "name"
         ],
         "properties": {
          "kind": {
           "type": "string",
           "enum": [
            "ConfigMap"
           ],
           "default": "ConfigMap"
          },
          "name": {
           "type": "string",
           "minLength": 1,
           "maxLength": 253,
           "pattern": "^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$"
          },
          "key": {
           "type": "string",
           "minLength": 1,
           "maxLength": 253,
           "pattern": "^[-._a-zA-Z0-9]+$",
           "default": "ca.crt"
          }
         }
        },
        "serverName": {
         "type": "string",
         "minLength": 1,
         "maxLength": 253,
         "pattern": "^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$"
        },
        "clientCertificateRef": {
         "type": "object",
         "required": [
          "name"
         ],
         "properties": {
          "name": {
           "type": "string",
           "minLength": 1,
           "maxLength": 253,
           "pattern": "^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$"
          }
         }
        }
       }
      },
      "proxyURL": {
       "type": "string",
       "minLength": 1,
       "maxLength": 2048,
       "x-kubernetes-validations": [
        {
         "rule": "self.matches('^https?://([A-Za-z0-9_-]+([.][A-Za-z0-9_-]+)*|\\\\[[0-9A-Fa-f:.]+\\\\])(:[0-9]{1,5})?(/[!-\"$->@-~]*)?$')",
         "message": "write an absolute http or https URL with a host, without user, query or fragment",
         "reason": "FieldValueInvalid"
        }
       ]
      },
      "allowedNamespaces": {
       "type": "object",
       "default": {
        "from": "Same"
       },
       "properties": {
        "from": {
         "type": "string",
         "enum": [
          "Same",
          "All",
          "Selector"
         ],
         "default": "Same"
        },
        "selector": {
         "type": "object",
         "properties": {
          "matchLabels": {
           "type": "object",
           "maxProperties": 64,
           "additionalProperties": {
            "type": "string",
            "maxLength": 63
           }
          },
          "matchExpressions": {
           "type": "array",
           "maxItems": 32,
           "x-kubernetes-list-type": "atomic",
           "items": {
            "type": "object",
            "required": [
             "key",
             "operator"
            ],
            "properties": {
             "key": {
              "type": "string",
              "minLength": 1,
              "maxLength": 317,
              "pattern": "^([a-z0-9]([a-z0-9.-]*[a-z0-9])?/)?[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$"
             },
             "operator": {
              "type": "string",
              "enum": [
               "In",
               "NotIn",
               "Exists",
               "DoesNotExist"
              ]
             },
             "values": {
              "type": "array",
              "minItems": 1,
              "maxItems": 64,
              "x-kubernetes-list-type": "set",
              "items": {
               "type": "string",
               "maxLength": 63
              }
             }
            },
            "x-kubernetes-validations": [
             {
              "rule": "(self.operator in ['In', 'NotIn']) == has(self.values)",
              "message": "give values for In and NotIn, and none for Exists and DoesNotExist",
              "fieldPath": ".values",
              "reason": "FieldValueInvalid"
             }
            ]
           }
          }
         }
        }
       },
       "x-kubernetes-validations": [
        {
         "rule": "(self.from == 'Selector') == has(self.selector)",
         "message": "give selector together with from: Selector, and only then",
         "fieldPath": ".selector",
         "reason": "FieldValueInvalid"
        }
       ]
      }
     },
     "x-kubernetes-validations": [
      {
       "rule": "has(self.provider) || has(self.preset)",
       "message": "give preset or provider",
       "fieldPath": ".preset",
       "reason": "FieldValueRequired"
      },
      {
       "rule": "(has(self.preset) ? self.preset == 'azure-openai' : has(self.provider) && self.provider == 'AzureOpenAI') == has(self.azure)",
       "message": "give azure for provider AzureOpenAI or preset azure-openai, and only there",
       "fieldPath": ".azure",
       "reason": "FieldValueInvalid"
      },
      {
       "rule": "(has(self.provider) && self.provider == 'Bedrock') == has(self.bedrock)",
       "message": "give bedrock for provider Bedrock, and only there",
       "fieldPath": ".bedrock",
       "reason": "FieldValueInvalid"
      },
      {
       "rule": "(has(self.provider) && self.provider == 'VertexAI') == has(self.vertexAI)",
       "message": "give vertexAI for provider VertexAI, and only there",
       "fieldPath": ".vertexAI",
       "reason": "FieldValueInvalid"
      },
      {
       "rule": "!has(self.preset) || !has(self.provider) || self.provider in ['OpenAICompatible', 'AnthropicCompatible', 'GeminiCompatible']",
       "message": "remove provider or preset: beside a preset only a compatible provider may be given",
       "fieldPath": ".preset",
       "reason": "FieldValueForbidden"
      },
      {
       "rule": "has(self.baseURL) || (has(self.preset) ? !(self.preset in ['anthropic-compatible', 'azure-openai', 'azure-openai-v1', 'gemini-compatible', 'openai-compatible', 'tei', 'vllm']) : !has(self.provider) || !(self.provider in ['OpenAICompatible', 'AnthropicCompatible', 'GeminiCompatible', 'AzureOpenAI']))",
       "message": "give baseURL: this provider or preset has no address of its own",
       "fieldPath": ".baseURL",
       "reason": "FieldValueRequired"
      }
     ]
    },
    "status": {
     "type": "object",
     "properties": {
      "observedGeneration": {
       "type": "integer",
       "format": "int64",
       "minimum": 0,
       "maximum": 9007199254740991
      },
      "conditions": {
       "type": "array",
       "maxItems": 8,
       "x-kubernetes-list-type": "map",
       "x-kubernetes-list-map-keys": [
        "type"
       ],
       "items": {
        "type": "object",
        "required": [
         "type",
         "status",
         "lastTransitionTime",
         "reason",
         "message"
        ],
        "properties": {
         "type": {
          "type": "string",
          "maxLength": 316,
          "pattern": "^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$"
         },
         "status": {
          "type": "string",
          "enum": [
           "True",
           "False",
           "Unknown"
          ]
         },
         "observedGeneration": {
          "type": "integer",
          "format": "int64",
          "minimum": 0,
          "maximum": 9007199254740991
         },
         "lastTransitionTime": {
          "type": "string",
          "format": "date-time",
          "maxLength": 64,
          "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$"
         },
         "reason": {
          "type": "string",
          "minLength": 1,
          "maxLength": 1024,
          "pattern": "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$"
         },
         "message": {
          "type": "string",
          "maxLength": 32768
         }
        }
       }
      },
      "credentials": {
       "type": "array",
       "maxItems": 32,
       "x-kubernetes-list-type": "map",
       "x-kubernetes-list-map-keys": [
        "name"
       ],
       "items": {
        "type": "object",
        "required": [
         "name"
        ],
        "properties": {
         "name": {
          "type": "string",
          "minLength": 1,
          "maxLength": 63,
          "pattern": "^[a-z0-9]([a-z0-9-]*[a-z0-9])?$"
         },
         "resolved": {
          "type": "string",
          "enum": [
           "True",
           "False",
           "Unknown"
          ]
         },
         "secretResourceVersion": {
          "type": "string",
          "maxLength": 64
         },
         "healthy": {
          "type": "string",
          "enum": [
           "True",
           "False",
           "Unknown"
          ]
         },
         "reason": {
          "type": "string",
          "maxLength": 64
         },
         "lastFailureTime": {
          "type": "string",
          "format": "date-time",
          "maxLength": 64,
          "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$"
         }
        }
       }
      },
      "modelCount": {
       "type": "integer",
       "format": "int32",
       "minimum": 0,
       "maximum": 512
      },
      "routes": {
       "type": "integer",
       "format": "int32",
       "minimum": 0,
       "maximum": 1000000
      }
     }
    }
   }
  }
 },
 {
  "apiVersion": "tollgate.dev/v1alpha1",
  "kind": "ModelRoute",
  "scope": "Namespaced",
  "schema": {
   "type": "object",
   "required": [
    "spec"
   ],
   "properties": {
    "apiVersion": {
     "type": "string"
    },
    "kind": {
     "type": "string"
    },
    "metadata": {
     "type": "object"
    },
    "spec": {
     "type": "object",
     "required": [
      "targets"
     ],
     "properties": {
      "model": {
       "type": "string",
       "minLength": 1,
       "maxLength": 256,
       "pattern": "^[A-Za-z0-9*][A-Za-z0-9._:/@*-]*$",
       "x-kubernetes-validations": [
        {
         "rule": "self.matches('^([*]|[!-)+-~]+[*]?|[*][!-)+-~]+)$')",
         "message": "write an exact model name, `prefix*`, `*suffix` or `*`; a wildcard may occur once and only at an end",
         "reason": "FieldValueInvalid"
        }
       ]
      },
      "aliases": {
       "type": "array",
       "maxItems": 16,
       "x-kubernetes-list-type": "set",
       "items": {
        "type": "string",
        "minLength": 1,
        "maxLength": 256,
        "pattern": "^[A-Za-z0-9][A-Za-z0-9._:/@-]*$"
       }
      },
      "visibility": {
       "type": "string",
       "enum": [
        "Listed",
        "Unlisted",
        "Internal"
       ],
       "default": "Listed"
      },
      "info": {
       "type": "object",
       "properties": {
        "ownedBy": {
         "type": "string",
         "maxLength": 128
        },
        "createdAt": {
         "type": "string",
         "format": "date-time",
         "maxLength": 64,
         "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$",
         "x-kubernetes-validations": [
          {
           "rule": "self >= timestamp('1970-01-01T00:00:00Z')",
           "message": "write a time from 1970 on, for example 2026-12-31T00:00:00Z",
           "reason": "FieldValueInvalid"
          }
         ]
        },
        "displayName": {
         "type": "string",
         "maxLength": 128
        },
        "contextWindow": {
         "type": "integer",
         "format": "int32",
         "minimum": 1,
         "maximum": 1000000000
        },
        "maxOutputTokens": {
         "type": "integer",
         "format": "int32",
         "minimum": 1,
         "maximum": 1000000000
        }
       }
      },
      "capabilities": {
       "type": "array",
       "minItems": 1,
       "maxItems": 16,
       "default": [
        "Chat"
       ],
       "x-kubernetes-list-type": "set",
       "items": {
        "type": "string",
        "enum": [
         "Chat",
         "Completion",
         "CountTokens",
         "Embeddings",
         "Rerank",
         "Speech",
         "Transcription",
         "Translation",
         "ImageGeneration",
         "ImageEdit",
         "Moderation",
         "Realtime",
         "Models",
         "Passthrough"
        ]
       }
      },
      "targets": {
       "type": "array",
       "minItems": 1,
       "maxItems": 64,
       "x-kubernetes-list-type": "map",
       "x-kubernetes-list-map-keys": [
        "name"
       ],
       "items": {
        "type": "object",
        "required": [
         "name"
        ],
        "properties": {
         "name": {
          "type": "string",
          "minLength": 1,
          "maxLength": 63,
          "pattern": "^[a-z0-9]([a-z0-9-]*[a-z0-9])?$"
         },
         "channelRef": {
          "type": "object",
          "required": [
           "name"
          ],
          "properties": {
           "name": {
            "type": "string",
            "minLength": 1,
            "maxLength": 253,
            "pattern": "^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$"
           },
           "namespace": {
            "type": "string",
            "minLength": 1,
            "maxLength": 63,
            "pattern": "^[a-z0-9]([a-z0-9-]*[a-z0-9])?$"
           }
          }
         },
         "modelRef": {
          "type": "object",
          "required": [
           "name"
          ],
          "properties": {
           "name": {
            "type": "string",
            "minLength": 1,
            "maxLength": 253,
            "pattern": "^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$"
           }
          }
         },
         "upstreamModel": {
          "type": "string",
          "minLength": 1,
          "maxLength": 256
         },
         "priority": {
          "type": "integer",
          "format": "int32",
          "minimum": 0,
          "maximum": 1000,
          "default": 0
         },
         "weight": {
          "type": "integer",
          "format": "int32",
          "minimum": 0,
          "maximum": 1000000,
          "default": 1
         },
         "parameters": {
          "type": "object",
          "properties": {
           "default": {
            "type": "array",
            "maxItems": 64,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": [
             "field"
            ],
            "items": {
             "type": "object",
             "required": [
              "field",
              "value"
             ],
             "properties": {
              "field": {
               "type": "string",
               "minLength": 1,
               "maxLength": 256,
               "x-kubernetes-validations": [
                {
                 "rule": "!(self in ['model', 'stream'])",
                 "message": "choose the model with upstreamModel; stream is the caller's choice",
                 "reason": "FieldValueInvalid"
                }
               ]
              },
              "value": {
               "nullable": true,
               "x-kubernetes-preserve-unknown-fields": true
              }
             }
            }
           },
           "set": {
            "type": "array",
            "maxItems": 64,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": [
             "field"
            ],
            "items": {
             "type": "object",
             "required": [
              "field",
              "value"
             ],
             "properties": {
              "field": {
               "type": "string",
               "minLength": 1,
               "maxLength": 256,
               "x-kubernetes-validations": [
                {
                 "rule": "!(self in ['model', 'stream'])",
                 "message": "choose the model with upstreamModel; stream is the caller's choice",
                 "reason": "FieldValueInvalid"
                }
               ]
              },
              "value": {
               "nullable": true,
               "x-kubernetes-preserve-unknown-fields": true
              }
             }
            }
           },
           "remove": {
            "type": "array",
            "maxItems": 64,
            "x-kubernetes-list-type": "set",
            "items": {
             "type": "string",
             "minLength": 1,
             "maxLength": 256,
             "x-kubernetes-validations": [
              {
               "rule": "!(self in ['model', 'stream'])",
               "message": "leave model and stream: the gateway needs both",
               "reason": "FieldValueInvalid"
              }
             ]
            }
           }
          }
         }
        },
        "x-kubernetes-validations": [
         {
          "rule": "has(self.channelRef) != has(self.modelRef)",
          "message": "give exactly one of channelRef and modelRef",
          "reason": "FieldValueInvalid"
         },
         {
          "rule": "!has(self.modelRef) || !has(self.upstreamModel)",
          "message": "remove upstreamModel: the other route's targets choose their own",
          "fieldPath": ".upstreamModel",
          "reason": "FieldValueForbidden"
         }
        ]
       }
      },
      "strategy": {
       "type": "string",
       "enum": [
        "Weighted",
        "LeastInFlight",
        "LowestLatency",
        "CacheAffinity"
       ],
       "default": "Weighted"
      },
      "failover": {
       "type": "object",
       "properties": {
        "maxAttempts": {
         "type": "integer",
         "format": "int32",
         "minimum": 1,
         "maximum": 10
        },
        "on": {
         "type": "array",
         "maxItems": 8,
         "x-kubernetes-list-type": "set",
         "items": {
          "type": "string",
          "enum": [
           "ConnectFailure",
           "Timeout",
           "RateLimited",
           "ServerError",
           "CredentialRejected",
           "PaymentRequired",
           "ModelNotFound",
           "ContextTooLong"
          ]
         }
        },
        "statuses": {
         "type": "array",
         "maxItems": 64,
         "x-kubernetes-list-type": "set",
         "items": {
          "type": "integer",
          "format": "int32",
          "minimum": 400,
          "maximum": 599
         }
        },
        "withinFirst": {
         "type": "string",
         "maxLength": 32,
         "pattern": "^([0-9]{1,5}(h|m|s|ms)){1,4}$"
        },
        "backoff": {
         "type": "object",
         "required": [
          "base"
         ],
         "properties": {
          "base": {
           "type": "string",
           "maxLength": 32,
           "pattern": "^([0-9]{1,5}(h|m|s|ms)){1,4}$"
          },
          "max": {
           "type": "string",
           "maxLength": 32,
           "pattern": "^([0-9]{1,5}(h|m|s|ms)){1,4}$"
          }
         }
        },
        "retryAfter": {
         "type": "string",
         "enum": [
          "Honor",
          "Ignore"
         ],
         "default": "Honor"
        }
       }
      },
      "timeouts": {
       "type": "object",
       "properties": {
        "connect": {
         "type": "string",
         "maxLength": 32,
         "pattern": "^([0-9]{1,5}(h|m|s|ms)){1,4}$"
        },
        "firstByte": {
         "type": "string",
         "maxLength": 32,
         "pattern": "^([0-9]{1,5}(h|m|s|ms)){1,4}$"
        },
        "streamIdle": {
         "type": "string",
         "maxLength": 32,
         "pattern": "^([0-9]{1,5}(h|m|s|ms)){1,4}$"
        },
        "total": {
         "type": "string",
         "maxLength": 32,
         "pattern": "^([0-9]{1,5}(h|m|s|ms)){1,4}$"
        }
       }
      },
      "keySelector": {
       "type": "object",
       "properties": {
        "matchLabels": {
         "type": "object",
         "maxProperties": 64,
         "additionalProperties": {
          "type": "string",
          "maxLength": 63
         }
        },
        "matchExpressions": {
         "type": "array",
         "maxItems": 32,
         "x-kubernetes-list-type": "atomic",
         "items": {
          "type": "object",
          "required": [
           "key",
           "operator"
          ],
          "properties": {
           "key": {
            "type": "string",
            "minLength": 1,
            "maxLength": 317,
            "pattern": "^([a-z0-9]([a-z0-9.-]*[a-z0-9])?/)?[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$"
           },
           "operator": {
            "type": "string",
            "enum": [
             "In",
             "NotIn",
             "Exists",
             "DoesNotExist"
            ]
           },
           "values": {
            "type": "array",
            "minItems": 1,
            "maxItems": 64,
            "x-kubernetes-list-type": "set",
            "items": {
             "type": "string",
             "maxLength": 63
            }
           }
          },
          "x-kubernetes-validations": [
           {
            "rule": "(self.operator in ['In', 'NotIn']) == has(self.values)",
            "message": "give values for In and NotIn, and none for Exists and DoesNotExist",
            "fieldPath": ".values",
            "reason": "FieldValueInvalid"
           }
          ]
         }
        },
        "namespaces": {
         "type": "object",
         "default": {
          "from": "Same"
         },
         "properties": {
          "from": {
           "type": "string",
           "enum": [
            "Same",
            "All",
            "Selector"
           ],
           "default": "Same"
          },
          "selector": {
           "type": "object",
           "properties": {
            "matchLabels": {
             "type": "object",
             "maxProperties": 64,
             "additionalProperties": {
              "type": "string",
              "maxLength": 63
             }
            },
            "matchExpressions": {
             "type": "array",
             "maxItems": 32,
             "x-kubernetes-list-type": "atomic",
             "items": {
              "type": "object",
              "required": [
               "key",
               "operator"
              ],
              "properties": {
               "key": {
                "type": "string",
                "minLength": 1,
                "maxLength": 317,
                "pattern": "^([a-z0-9]([a-z0-9.-]*[a-z0-9])?/)?[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$"
               },
               "operator": {
                "type": "string",
                "enum": [
                 "In",
                 "NotIn",
                 "Exists",
                 "DoesNotExist"
                ]
               },
               "values": {
                "type": "array",
                "minItems": 1,
                "maxItems": 64,
                "x-kubernetes-list-type": "set",
                "items": {
                 "type": "string",
                 "maxLength": 63
                }
               }
              },
              "x-kubernetes-validations": [
               {
                "rule": "(self.operator in ['In', 'NotIn']) == has(self.values)",
                "message": "give values for In and NotIn, and none for Exists and DoesNotExist",
                "fieldPath": ".values",
                "reason": "FieldValueInvalid"
               }
              ]
             }
            }
           }
          }
         },
         "x-kubernetes-validations": [
          {
           "rule": "(self.from == 'Selector') == has(self.selector)",
           "message": "give selector together with from: Selector, and only then",
           "fieldPath": ".selector",
           "reason": "FieldValueInvalid"
          }
         ]
        }
       }
      },
      "limits": {
       "type": "array",
       "maxItems": 8,
       "x-kubernetes-list-type": "map",
       "x-kubernetes-list-map-keys": [
        "name"
       ],
       "items": {
        "type": "object",
        "required": [
         "name",
         "unit",
         "limit",
         "period"
        ],
        "properties": {
         "name": {
          "type": "string",
          "minLength": 1,
          "maxLength": 63,
          "pattern": "^[a-z0-9]([a-z0-9-]*[a-z0-9])?$"
         },
         "unit": {
          "type": "string",
          "enum": [
           "Requests",
           "Tokens",
           "InputTokens",
           "OutputTokens",
           "Cost"
          ]
         },
         "limit": {
          "type": "string",
          "minLength": 1,
          "maxLength": 16,
          "pattern": "^[0-9]{1,15}(\\.[0-9]{1,6})?[kMG]?$"
         },
         "period": {
          "type": "string",
          "enum": [
           "Second",
           "Minute",
           "Hour",
           "Day",
           "Week",
           "Month",
           "Lifetime"
          ]
         },
         "timeZone": {
          "type": "string",
          "minLength": 1,
          "maxLength": 64,
          "pattern": "^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$"
         },
         "algorithm": {
          "type": "string",
          "enum": [
           "FixedWindow",
           "TokenBucket"
          ]
         },
         "burst": {
          "type": "integer",
          "format": "int64",
          "minimum": 1,
          "maximum": 999999999999999
         },
         "mode": {
          "type": "string",
          "enum": [
           "Enforce",
           "Shadow"
          ],
          "default": "Enforce"
         },
         "models": {
          "type": "array",
          "minItems": 1,
          "maxItems": 16,
          "x-kubernetes-list-type": "set",
          "items": {
           "type": "string",
           "minLength": 1,
           "maxLength": 256,
           "x-kubernetes-validations": [
            {
             "rule": "self.matches('^([*]|[!-)+-~]+[*]?|[*][!-)+-~]+)$')",
             "message": "write an exact model name, `prefix*`, `*suffix` or `*`; a wildcard may occur once and only at an end",
             "reason": "FieldValueInvalid"
            }
           ]
          },
          "x-kubernetes-validations": [
           {
            "rule": "size(self) <= 1 || self.all(pattern, pattern != '*')",
            "message": "leave `*` alone in its list: it already covers every other entry",
            "reason": "FieldValueInvalid"
           }
          ]
         }
        },
        "x-kubernetes-validations": [
         {
          "rule": "self.unit == 'Cost' || self.limit.matches('^[0-9]+([.][0-9]{1,3}k|[.][0-9]{1,6}[MG]|[kMG])?$')",
          "message": "write a whole number: only unit Cost takes a fraction",
          "fieldPath": ".limit",
          "reason": "FieldValueInvalid"
         },
         {
          "rule": "self.unit != 'Cost' || quantity(self.limit).compareTo(quantity('9G')) <= 0",
          "message": "set at most 9G (9,000,000,000 credits)",
          "fieldPath": ".limit",
          "reason": "FieldValueInvalid"
         },
         {
          "rule": "self.unit == 'Cost' || quantity(self.limit).compareTo(quantity('999999999999999')) <= 0",
          "message": "set at most 999999999999999 (15 digits)",
          "fieldPath": ".limit",
          "reason": "FieldValueInvalid"
         },
         {
          "rule": "!has(self.timeZone) || self.period in ['Day', 'Week', 'Month']",
          "message": "remove timeZone or set period to Day, Week or Month: only these follow a calendar",
          "fieldPath": ".timeZone",
          "reason": "FieldValueForbidden"
         },
         {
          "rule": "!has(self.algorithm) || self.algorithm != 'TokenBucket' || self.period in ['Second', 'Minute', 'Hour']",
          "message": "use FixedWindow, or set period to Second, Minute or Hour: a TokenBucket fits no longer period",
          "fieldPath": ".algorithm",
          "reason": "FieldValueInvalid"
         },
         {
          "rule": "!has(self.burst) || (has(self.algorithm) ? self.algorithm == 'TokenBucket' : self.period in ['Second', 'Minute', 'Hour'])",
          "message": "remove burst or use algorithm TokenBucket with period Second, Minute or Hour: only a bucket has a size",
          "fieldPath": ".burst",
          "reason": "FieldValueForbidden"
         }
        ]
       }
      },
      "parameters": {
       "type": "array",
       "maxItems": 64,
       "x-kubernetes-list-type": "map",
       "x-kubernetes-list-map-keys": [
        "name"
       ],
       "items": {
        "type": "object",
        "required": [
         "name"
        ],
        "properties": {
         "name": {
          "type": "string",
          "minLength": 1,
          "maxLength": 128,
          "pattern": "^[A-Za-z_][A-Za-z0-9_]*([.][A-Za-z_][A-Za-z0-9_]*)*$"
         },
         "support": {
          "type": "string",
          "enum": [
           "Supported",
           "Unsupported"
          ],
          "default": "Supported"
         },
         "minimum": {
          "type": "string",
          "minLength": 1,
          "maxLength": 17,
          "pattern": "^-?[0-9]{1,9}(\\.[0-9]{1,6})?$"
         },
         "maximum": {
          "type": "string",
          "minLength": 1,
          "maxLength": 17,
          "pattern": "^-?[0-9]{1,9}(\\.[0-9]{1,6})?$"
         },
         "allowed": {
          "type": "array",
          "minItems": 1,
          "maxItems": 64,
          "x-kubernetes-list-type": "set",
          "items": {
           "type": "string",
           "maxLength": 128
          }
         }
        },
        "x-kubernetes-validations": [
         {
          "rule": "!has(self.minimum) || !has(self.maximum) || quantity(self.minimum).compareTo(quantity(self.maximum)) <= 0",
          "message": "set maximum to at least minimum",
          "fieldPath": ".maximum",
          "reason": "FieldValueInvalid"
         },
         {
          "rule": "self.support != 'Unsupported' || (!has(self.minimum) && !has(self.maximum) && !has(self.allowed))",
          "message": "remove minimum, maximum and allowed: an unsupported parameter has no values",
          "fieldPath": ".support",
          "reason": "FieldValueInvalid"
         },
         {
          "rule": "!has(self.allowed) || (!has(self.minimum) && !has(self.maximum))",
          "message": "give either allowed or a range",
          "fieldPath": ".allowed",
          "reason": "FieldValueForbidden"
         }
        ]
       }
      },
      "price": {
       "type": "object",
       "properties": {
        "unit": {
         "type": "string",
         "enum": [
          "Credit"
         ],
         "default": "Credit"
        },
        "inputPerMillion": {
         "type": "string",
         "minLength": 1,
         "maxLength": 16,
         "pattern": "^[0-9]{1,9}(\\.[0-9]{1,6})?$"
        },
        "cachedInputPerMillion": {
         "type": "string",
         "minLength": 1,
         "maxLength": 16,
         "pattern": "^[0-9]{1,9}(\\.[0-9]{1,6})?$"
        },
        "cacheWritePerMillion": {
         "type": "string",
         "minLength": 1,
         "maxLength": 16,
         "pattern": "^[0-9]{1,9}(\\.[0-9]{1,6})?$"
        },
        "cacheWrite1hPerMillion": {
         "type": "string",
         "minLength": 1,
         "maxLength": 16,
         "pattern": "^[0-9]{1,9}(\\.[0-9]{1,6})?$"
        },
        "outputPerMillion": {
         "type": "string",
         "minLength": 1,
         "maxLength": 16,
         "pattern": "^[0-9]{1,9}(\\.[0-9]{1,6})?$"
        },
        "reasoningPerMillion": {
         "type": "string",
         "minLength": 1,
         "maxLength": 16,
         "pattern": "^[0-9]{1,9}(\\.[0-9]{1,6})?$"
        },
        "audioInputPerMillion": {
         "type": "string",
         "minLength": 1,
         "maxLength": 16,
         "pattern": "^[0-9]{1,9}(\\.[0-9]{1,6})?$"
        },
        "audioOutputPerMillion": {
         "type": "string",
         "minLength": 1,
         "maxLength": 16,
         "pattern": "^[0-9]{1,9}(\\.[0-9]{1,6})?$"
        },
        "imageInputPerMillion": {
         "type": "string",
         "minLength": 1,
         "maxLength": 16,
         "pattern": "^[0-9]{1,9}(\\.[0-9]{1,6})?$"
        },
        "imageOutputPerMillion": {
         "type": "string",
         "minLength": 1,
         "maxLength": 16,
         "pattern": "^[0-9]{1,9}(\\.[0-9]{1,6})?$"
        },
        "perRequest": {
         "type": "string",
         "minLength": 1,
         "maxLength": 16,
         "pattern": "^[0-9]{1,9}(\\.[0-9]{1,6})?$"
        },
        "perImage": {
         "type": "array",
         "maxItems": 64,
         "x-kubernetes-list-type": "atomic",
         "items": {
          "type": "object",
          "required": [
           "price"
          ],
          "properties": {
           "size": {
            "type": "string",
            "minLength": 1,
            "maxLength": 32
           },
           "quality": {
            "type": "string",
            "minLength": 1,
            "maxLength": 32
           },
           "price": {
            "type": "string",
            "minLength": 1,
            "maxLength": 16,
            "pattern": "^[0-9]{1,9}(\\.[0-9]{1,6})?$"
           }
          }
         }
        },
        "perMinuteAudio": {
         "type": "string",
         "minLength": 1,
         "maxLength": 16,
         "pattern": "^[0-9]{1,9}(\\.[0-9]{1,6})?$"
        },
        "perMillionCharacters": {
         "type": "string",
         "minLength": 1,
         "maxLength": 16,
         "pattern": "^[0-9]{1,9}(\\.[0-9]{1,6})?$"
        },
        "perSearch": {
         "type": "string",
         "minLength": 1,
         "maxLength": 16,
         "pattern": "^[0-9]{1,9}(\\.[0-9]{1,6})?$"
        }
       }
      }
     },
     "x-kubernetes-validations": [
      {
       "rule": "!has(self.aliases) || !has(self.model) || !(self.model in self.aliases)",
       "message": "remove the alias that repeats model",
       "fieldPath": ".aliases",
       "reason": "FieldValueInvalid"
      }
     ]
    },
    "status": {
     "type": "object",
     "properties": {
      "observedGeneration": {
       "type": "integer",
       "format": "int64",
       "minimum": 0,
       "maximum": 9007199254740991
      },
      "conditions": {
       "type": "array",
       "maxItems": 8,
       "x-kubernetes-list-type": "map",
       "x-kubernetes-list-map-keys": [
        "type"
       ],
       "items": {
        "type": "object",
        "required": [
         "type",
         "status",
         "lastTransitionTime",
         "reason",
         "message"
        ],
        "properties": {
         "type": {
          "type": "string",
          "maxLength": 316,
          "pattern": "^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$"
         },
         "status": {
          "type": "string",
          "enum": [
           "True",
           "False",
           "Unknown"
          ]
         },
         "observedGeneration": {
          "type": "integer",
          "format": "int64",
          "minimum": 0,
          "maximum": 9007199254740991
         },
         "lastTransitionTime": {
          "type": "string",
          "format": "date-time",
          "maxLength": 64,
          "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$"
         },
         "reason": {
          "type": "string",
          "minLength": 1,
          "maxLength": 1024,
          "pattern": "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$"
         },
         "message": {
          "type": "string",
          "maxLength": 32768
         }
        }
       }
      },
      "targets": {
       "type": "array",
       "maxItems": 64,
       "x-kubernetes-list-type": "map",
       "x-kubernetes-list-map-keys": [
        "name"
       ],
       "items": {
        "type": "object",
        "required": [
         "name"
        ],
        "properties": {
         "name": {
          "type": "string",
          "minLength": 1,
          "maxLength": 63,
          "pattern": "^[a-z0-9]([a-z0-9-]*[a-z0-9])?$"
         },
         "resolved": {
          "type": "string",
          "enum": [
           "True",
           "False",
           "Unknown"
          ]
         },
         "reason": {
          "type": "string",
          "maxLength": 64
         }
        }
       }
      },
      "model": {
       "type": "string",
       "maxLength": 256
      },
      "targetCount": {
       "type": "integer",
       "format": "int32",
       "minimum": 0,
       "maximum": 64
      }
     }
    }
   }
  }
 }
];
