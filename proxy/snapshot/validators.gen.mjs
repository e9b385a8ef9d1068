// Generated from schema.json, crds/*.yaml and cli/settings.schema.json by `npm run generate`; do not edit.
"use strict";
export const key = validate37;
const schema12 = {"type":"object","additionalProperties":false,"required":["kind","namespace","name","state","credentials"],"properties":{"kind":{"const":"key"},"namespace":{"$ref":"#/definitions/name"},"name":{"$ref":"#/definitions/name"},"state":{"enum":["Active","Suspended"]},"expiresAt":{"$ref":"#/definitions/timestamp"},"account":{"$ref":"#/definitions/name","description":"Name of the Account in the same namespace."},"labels":{"$ref":"#/definitions/labels"},"credentials":{"type":"array","maxItems":4,"items":{"$ref":"#/definitions/keyCredential"}},"modelsAllow":{"$ref":"#/definitions/patterns"},"modelsDeny":{"$ref":"#/definitions/patterns"},"cidrsAllow":{"type":"array","maxItems":64,"items":{"type":"string","maxLength":64}},"cidrsDeny":{"type":"array","maxItems":64,"items":{"type":"string","maxLength":64}},"protocols":{"type":"array","maxItems":3,"items":{"enum":["OpenAI","Anthropic","Gemini"]}},"capabilities":{"type":"array","maxItems":16,"items":{"$ref":"#/definitions/capability"}},"limits":{"$ref":"#/definitions/limits"},"maxInFlight":{"type":"integer","minimum":1,"maximum":100000},"metadata":{"$ref":"#/definitions/labels"}}};
const schema13 = {"type":"string","minLength":1,"maxLength":253,"pattern":"^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$"};
const schema15 = {"type":"integer","minimum":0,"maximum":8640000000000000,"description":"Milliseconds since the epoch."};
const schema17 = {"type":"object","maxProperties":128,"additionalProperties":{"type":"string","maxLength":253},"tsType":"{ [name: string]: string }"};
const schema22 = {"type":"array","maxItems":256,"items":{"type":"string","minLength":1,"maxLength":256},"description":"Model patterns: exact, `prefix*`, `*suffix` or `*`."};
const schema24 = {"enum":["Chat","Completion","CountTokens","Embeddings","Rerank","Speech","Transcription","Translation","ImageGeneration","ImageEdit","Moderation","Realtime","Models","Passthrough"]};
const func2 = Object.prototype.hasOwnProperty;
const pattern0 = new RegExp("^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$", "u");
const schema18 = {"type":"object","additionalProperties":false,"required":["name","sha256"],"properties":{"name":{"$ref":"#/definitions/name"},"sha256":{"type":"string","pattern":"^[a-f0-9]{64}$"},"notBefore":{"$ref":"#/definitions/timestamp"},"notAfter":{"$ref":"#/definitions/timestamp"}}};
const pattern4 = new RegExp("^[a-f0-9]{64}$", "u");

function validate12(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((data.name === undefined) && (missing0 = "name")) || ((data.sha256 === undefined) && (missing0 = "sha256"))){
validate12.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'"}];
return false;
}
else {
const _errs1 = errors;
for(const key0 in data){
if(!((((key0 === "name") || (key0 === "sha256")) || (key0 === "notBefore")) || (key0 === "notAfter"))){
validate12.errors = [{instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties"}];
return false;
break;
}
}
if(_errs1 === errors){
if(data.name !== undefined){
let data0 = data.name;
const _errs2 = errors;
const _errs3 = errors;
if(errors === _errs3){
if(typeof data0 === "string"){
if(data0.length > 253){
validate12.errors = [{instancePath:instancePath+"/name",schemaPath:"#/definitions/name/maxLength",keyword:"maxLength",params:{limit: 253},message:"must NOT have more than 253 characters"}];
return false;
}
else {
if(data0.length < 1){
validate12.errors = [{instancePath:instancePath+"/name",schemaPath:"#/definitions/name/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
else {
if(!pattern0.test(data0)){
validate12.errors = [{instancePath:instancePath+"/name",schemaPath:"#/definitions/name/pattern",keyword:"pattern",params:{pattern: "^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$"},message:"must match pattern \""+"^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$"+"\""}];
return false;
}
}
}
}
else {
validate12.errors = [{instancePath:instancePath+"/name",schemaPath:"#/definitions/name/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.sha256 !== undefined){
let data1 = data.sha256;
const _errs5 = errors;
if(errors === _errs5){
if(typeof data1 === "string"){
if(!pattern4.test(data1)){
validate12.errors = [{instancePath:instancePath+"/sha256",schemaPath:"#/properties/sha256/pattern",keyword:"pattern",params:{pattern: "^[a-f0-9]{64}$"},message:"must match pattern \""+"^[a-f0-9]{64}$"+"\""}];
return false;
}
}
else {
validate12.errors = [{instancePath:instancePath+"/sha256",schemaPath:"#/properties/sha256/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.notBefore !== undefined){
let data2 = data.notBefore;
const _errs7 = errors;
const _errs8 = errors;
if(!((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2)))){
validate12.errors = [{instancePath:instancePath+"/notBefore",schemaPath:"#/definitions/timestamp/type",keyword:"type",params:{type: "integer"},message:"must be integer"}];
return false;
}
if(errors === _errs8){
if(typeof data2 == "number"){
if(data2 > 8640000000000000 || isNaN(data2)){
validate12.errors = [{instancePath:instancePath+"/notBefore",schemaPath:"#/definitions/timestamp/maximum",keyword:"maximum",params:{comparison: "<=", limit: 8640000000000000},message:"must be <= 8640000000000000"}];
return false;
}
else {
if(data2 < 0 || isNaN(data2)){
validate12.errors = [{instancePath:instancePath+"/notBefore",schemaPath:"#/definitions/timestamp/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"}];
return false;
}
}
}
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.notAfter !== undefined){
let data3 = data.notAfter;
const _errs10 = errors;
const _errs11 = errors;
if(!((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3)))){
validate12.errors = [{instancePath:instancePath+"/notAfter",schemaPath:"#/definitions/timestamp/type",keyword:"type",params:{type: "integer"},message:"must be integer"}];
return false;
}
if(errors === _errs11){
if(typeof data3 == "number"){
if(data3 > 8640000000000000 || isNaN(data3)){
validate12.errors = [{instancePath:instancePath+"/notAfter",schemaPath:"#/definitions/timestamp/maximum",keyword:"maximum",params:{comparison: "<=", limit: 8640000000000000},message:"must be <= 8640000000000000"}];
return false;
}
else {
if(data3 < 0 || isNaN(data3)){
validate12.errors = [{instancePath:instancePath+"/notAfter",schemaPath:"#/definitions/timestamp/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"}];
return false;
}
}
}
}
var valid0 = _errs10 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
else {
validate12.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"}];
return false;
}
}
validate12.errors = vErrors;
return errors === 0;
}

const schema25 = {"type":"array","maxItems":8,"items":{"$ref":"#/definitions/limit"}};
const schema26 = {"type":"object","additionalProperties":false,"required":["name","unit","limit","period","algorithm","mode"],"properties":{"name":{"$ref":"#/definitions/name"},"unit":{"enum":["Requests","Tokens","InputTokens","OutputTokens","Cost"]},"limit":{"$ref":"#/definitions/amount","description":"Count, or nano-credits for unit Cost."},"period":{"enum":["Second","Minute","Hour","Day","Week","Month","Lifetime"]},"timeZone":{"type":"string","maxLength":64},"algorithm":{"enum":["FixedWindow","TokenBucket"]},"burst":{"$ref":"#/definitions/amount","description":"Size of the bucket; `limit` when absent. TokenBucket only."},"mode":{"enum":["Enforce","Shadow"]},"models":{"type":"array","maxItems":16,"items":{"type":"string","maxLength":256}}}};
const schema28 = {"type":"string","pattern":"^[0-9]{1,19}$","description":"A non-negative integer; below 2^63."};
const pattern6 = new RegExp("^[0-9]{1,19}$", "u");

function validate15(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((((((data.name === undefined) && (missing0 = "name")) || ((data.unit === undefined) && (missing0 = "unit"))) || ((data.limit === undefined) && (missing0 = "limit"))) || ((data.period === undefined) && (missing0 = "period"))) || ((data.algorithm === undefined) && (missing0 = "algorithm"))) || ((data.mode === undefined) && (missing0 = "mode"))){
validate15.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'"}];
return false;
}
else {
const _errs1 = errors;
for(const key0 in data){
if(!(func2.call(schema26.properties, key0))){
validate15.errors = [{instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties"}];
return false;
break;
}
}
if(_errs1 === errors){
if(data.name !== undefined){
let data0 = data.name;
const _errs2 = errors;
const _errs3 = errors;
if(errors === _errs3){
if(typeof data0 === "string"){
if(data0.length > 253){
validate15.errors = [{instancePath:instancePath+"/name",schemaPath:"#/definitions/name/maxLength",keyword:"maxLength",params:{limit: 253},message:"must NOT have more than 253 characters"}];
return false;
}
else {
if(data0.length < 1){
validate15.errors = [{instancePath:instancePath+"/name",schemaPath:"#/definitions/name/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
else {
if(!pattern0.test(data0)){
validate15.errors = [{instancePath:instancePath+"/name",schemaPath:"#/definitions/name/pattern",keyword:"pattern",params:{pattern: "^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$"},message:"must match pattern \""+"^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$"+"\""}];
return false;
}
}
}
}
else {
validate15.errors = [{instancePath:instancePath+"/name",schemaPath:"#/definitions/name/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.unit !== undefined){
let data1 = data.unit;
const _errs5 = errors;
if(!(((((data1 === "Requests") || (data1 === "Tokens")) || (data1 === "InputTokens")) || (data1 === "OutputTokens")) || (data1 === "Cost"))){
validate15.errors = [{instancePath:instancePath+"/unit",schemaPath:"#/properties/unit/enum",keyword:"enum",params:{allowedValues: schema26.properties.unit.enum},message:"must be equal to one of the allowed values"}];
return false;
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.limit !== undefined){
let data2 = data.limit;
const _errs6 = errors;
const _errs7 = errors;
if(errors === _errs7){
if(typeof data2 === "string"){
if(!pattern6.test(data2)){
validate15.errors = [{instancePath:instancePath+"/limit",schemaPath:"#/definitions/amount/pattern",keyword:"pattern",params:{pattern: "^[0-9]{1,19}$"},message:"must match pattern \""+"^[0-9]{1,19}$"+"\""}];
return false;
}
}
else {
validate15.errors = [{instancePath:instancePath+"/limit",schemaPath:"#/definitions/amount/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid0 = _errs6 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.period !== undefined){
let data3 = data.period;
const _errs9 = errors;
if(!(((((((data3 === "Second") || (data3 === "Minute")) || (data3 === "Hour")) || (data3 === "Day")) || (data3 === "Week")) || (data3 === "Month")) || (data3 === "Lifetime"))){
validate15.errors = [{instancePath:instancePath+"/period",schemaPath:"#/properties/period/enum",keyword:"enum",params:{allowedValues: schema26.properties.period.enum},message:"must be equal to one of the allowed values"}];
return false;
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.timeZone !== undefined){
let data4 = data.timeZone;
const _errs10 = errors;
if(errors === _errs10){
if(typeof data4 === "string"){
if(data4.length > 64){
validate15.errors = [{instancePath:instancePath+"/timeZone",schemaPath:"#/properties/timeZone/maxLength",keyword:"maxLength",params:{limit: 64},message:"must NOT have more than 64 characters"}];
return false;
}
}
else {
validate15.errors = [{instancePath:instancePath+"/timeZone",schemaPath:"#/properties/timeZone/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid0 = _errs10 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.algorithm !== undefined){
let data5 = data.algorithm;
const _errs12 = errors;
if(!((data5 === "FixedWindow") || (data5 === "TokenBucket"))){
validate15.errors = [{instancePath:instancePath+"/algorithm",schemaPath:"#/properties/algorithm/enum",keyword:"enum",params:{allowedValues: schema26.properties.algorithm.enum},message:"must be equal to one of the allowed values"}];
return false;
}
var valid0 = _errs12 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.burst !== undefined){
let data6 = data.burst;
const _errs13 = errors;
const _errs14 = errors;
if(errors === _errs14){
if(typeof data6 === "string"){
if(!pattern6.test(data6)){
validate15.errors = [{instancePath:instancePath+"/burst",schemaPath:"#/definitions/amount/pattern",keyword:"pattern",params:{pattern: "^[0-9]{1,19}$"},message:"must match pattern \""+"^[0-9]{1,19}$"+"\""}];
return false;
}
}
else {
validate15.errors = [{instancePath:instancePath+"/burst",schemaPath:"#/definitions/amount/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid0 = _errs13 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.mode !== undefined){
let data7 = data.mode;
const _errs16 = errors;
if(!((data7 === "Enforce") || (data7 === "Shadow"))){
validate15.errors = [{instancePath:instancePath+"/mode",schemaPath:"#/properties/mode/enum",keyword:"enum",params:{allowedValues: schema26.properties.mode.enum},message:"must be equal to one of the allowed values"}];
return false;
}
var valid0 = _errs16 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.models !== undefined){
let data8 = data.models;
const _errs17 = errors;
if(errors === _errs17){
if(Array.isArray(data8)){
if(data8.length > 16){
validate15.errors = [{instancePath:instancePath+"/models",schemaPath:"#/properties/models/maxItems",keyword:"maxItems",params:{limit: 16},message:"must NOT have more than 16 items"}];
return false;
}
else {
var valid4 = true;
const len0 = data8.length;
for(let i0=0; i0<len0; i0++){
let data9 = data8[i0];
const _errs19 = errors;
if(errors === _errs19){
if(typeof data9 === "string"){
if(data9.length > 256){
validate15.errors = [{instancePath:instancePath+"/models/" + i0,schemaPath:"#/properties/models/items/maxLength",keyword:"maxLength",params:{limit: 256},message:"must NOT have more than 256 characters"}];
return false;
}
}
else {
validate15.errors = [{instancePath:instancePath+"/models/" + i0,schemaPath:"#/properties/models/items/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid4 = _errs19 === errors;
if(!valid4){
break;
}
}
}
}
else {
validate15.errors = [{instancePath:instancePath+"/models",schemaPath:"#/properties/models/type",keyword:"type",params:{type: "array"},message:"must be array"}];
return false;
}
}
var valid0 = _errs17 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
}
}
}
else {
validate15.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"}];
return false;
}
}
validate15.errors = vErrors;
return errors === 0;
}


function validate14(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(Array.isArray(data)){
if(data.length > 8){
validate14.errors = [{instancePath,schemaPath:"#/maxItems",keyword:"maxItems",params:{limit: 8},message:"must NOT have more than 8 items"}];
return false;
}
else {
var valid0 = true;
const len0 = data.length;
for(let i0=0; i0<len0; i0++){
const _errs1 = errors;
if(!(validate15(data[i0], {instancePath:instancePath+"/" + i0,parentData:data,parentDataProperty:i0,rootData}))){
vErrors = vErrors === null ? validate15.errors : vErrors.concat(validate15.errors);
errors = vErrors.length;
}
var valid0 = _errs1 === errors;
if(!valid0){
break;
}
}
}
}
else {
validate14.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "array"},message:"must be array"}];
return false;
}
}
validate14.errors = vErrors;
return errors === 0;
}


function validate37(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((((data.kind === undefined) && (missing0 = "kind")) || ((data.namespace === undefined) && (missing0 = "namespace"))) || ((data.name === undefined) && (missing0 = "name"))) || ((data.state === undefined) && (missing0 = "state"))) || ((data.credentials === undefined) && (missing0 = "credentials"))){
validate37.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'"}];
return false;
}
else {
const _errs1 = errors;
for(const key0 in data){
if(!(func2.call(schema12.properties, key0))){
validate37.errors = [{instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties"}];
return false;
break;
}
}
if(_errs1 === errors){
if(data.kind !== undefined){
const _errs2 = errors;
if("key" !== data.kind){
validate37.errors = [{instancePath:instancePath+"/kind",schemaPath:"#/properties/kind/const",keyword:"const",params:{allowedValue: "key"},message:"must be equal to constant"}];
return false;
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.namespace !== undefined){
let data1 = data.namespace;
const _errs3 = errors;
const _errs4 = errors;
if(errors === _errs4){
if(typeof data1 === "string"){
if(data1.length > 253){
validate37.errors = [{instancePath:instancePath+"/namespace",schemaPath:"#/definitions/name/maxLength",keyword:"maxLength",params:{limit: 253},message:"must NOT have more than 253 characters"}];
return false;
}
else {
if(data1.length < 1){
validate37.errors = [{instancePath:instancePath+"/namespace",schemaPath:"#/definitions/name/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
else {
if(!pattern0.test(data1)){
validate37.errors = [{instancePath:instancePath+"/namespace",schemaPath:"#/definitions/name/pattern",keyword:"pattern",params:{pattern: "^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$"},message:"must match pattern \""+"^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$"+"\""}];
return false;
}
}
}
}
else {
validate37.errors = [{instancePath:instancePath+"/namespace",schemaPath:"#/definitions/name/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.name !== undefined){
let data2 = data.name;
const _errs6 = errors;
const _errs7 = errors;
if(errors === _errs7){
if(typeof data2 === "string"){
if(data2.length > 253){
validate37.errors = [{instancePath:instancePath+"/name",schemaPath:"#/definitions/name/maxLength",keyword:"maxLength",params:{limit: 253},message:"must NOT have more than 253 characters"}];
return false;
}
else {
if(data2.length < 1){
validate37.errors = [{instancePath:instancePath+"/name",schemaPath:"#/definitions/name/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
else {
if(!pattern0.test(data2)){
validate37.errors = [{instancePath:instancePath+"/name",schemaPath:"#/definitions/name/pattern",keyword:"pattern",params:{pattern: "^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$"},message:"must match pattern \""+"^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$"+"\""}];
return false;
}
}
}
}
else {
validate37.errors = [{instancePath:instancePath+"/name",schemaPath:"#/definitions/name/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid0 = _errs6 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.state !== undefined){
let data3 = data.state;
const _errs9 = errors;
if(!((data3 === "Active") || (data3 === "Suspended"))){
validate37.errors = [{instancePath:instancePath+"/state",schemaPath:"#/properties/state/enum",keyword:"enum",params:{allowedValues: schema12.properties.state.enum},message:"must be equal to one of the allowed values"}];
return false;
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.expiresAt !== undefined){
let data4 = data.expiresAt;
const _errs10 = errors;
const _errs11 = errors;
if(!((typeof data4 == "number") && (!(data4 % 1) && !isNaN(data4)))){
validate37.errors = [{instancePath:instancePath+"/expiresAt",schemaPath:"#/definitions/timestamp/type",keyword:"type",params:{type: "integer"},message:"must be integer"}];
return false;
}
if(errors === _errs11){
if(typeof data4 == "number"){
if(data4 > 8640000000000000 || isNaN(data4)){
validate37.errors = [{instancePath:instancePath+"/expiresAt",schemaPath:"#/definitions/timestamp/maximum",keyword:"maximum",params:{comparison: "<=", limit: 8640000000000000},message:"must be <= 8640000000000000"}];
return false;
}
else {
if(data4 < 0 || isNaN(data4)){
validate37.errors = [{instancePath:instancePath+"/expiresAt",schemaPath:"#/definitions/timestamp/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"}];
return false;
}
}
}
}
var valid0 = _errs10 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.account !== undefined){
let data5 = data.account;
const _errs13 = errors;
const _errs14 = errors;
if(errors === _errs14){
if(typeof data5 === "string"){
if(data5.length > 253){
validate37.errors = [{instancePath:instancePath+"/account",schemaPath:"#/definitions/name/maxLength",keyword:"maxLength",params:{limit: 253},message:"must NOT have more than 253 characters"}];
return false;
}
else {
if(data5.length < 1){
validate37.errors = [{instancePath:instancePath+"/account",schemaPath:"#/definitions/name/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
else {
if(!pattern0.test(data5)){
validate37.errors = [{instancePath:instancePath+"/account",schemaPath:"#/definitions/name/pattern",keyword:"pattern",params:{pattern: "^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$"},message:"must match pattern \""+"^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$"+"\""}];
return false;
}
}
}
}
else {
validate37.errors = [{instancePath:instancePath+"/account",schemaPath:"#/definitions/name/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid0 = _errs13 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.labels !== undefined){
let data6 = data.labels;
const _errs16 = errors;
const _errs17 = errors;
if(errors === _errs17){
if(data6 && typeof data6 == "object" && !Array.isArray(data6)){
if(Object.keys(data6).length > 128){
validate37.errors = [{instancePath:instancePath+"/labels",schemaPath:"#/definitions/labels/maxProperties",keyword:"maxProperties",params:{limit: 128},message:"must NOT have more than 128 properties"}];
return false;
}
else {
for(const key1 in data6){
let data7 = data6[key1];
const _errs20 = errors;
if(errors === _errs20){
if(typeof data7 === "string"){
if(data7.length > 253){
validate37.errors = [{instancePath:instancePath+"/labels/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/definitions/labels/additionalProperties/maxLength",keyword:"maxLength",params:{limit: 253},message:"must NOT have more than 253 characters"}];
return false;
}
}
else {
validate37.errors = [{instancePath:instancePath+"/labels/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/definitions/labels/additionalProperties/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid6 = _errs20 === errors;
if(!valid6){
break;
}
}
}
}
else {
validate37.errors = [{instancePath:instancePath+"/labels",schemaPath:"#/definitions/labels/type",keyword:"type",params:{type: "object"},message:"must be object"}];
return false;
}
}
var valid0 = _errs16 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.credentials !== undefined){
let data8 = data.credentials;
const _errs22 = errors;
if(errors === _errs22){
if(Array.isArray(data8)){
if(data8.length > 4){
validate37.errors = [{instancePath:instancePath+"/credentials",schemaPath:"#/properties/credentials/maxItems",keyword:"maxItems",params:{limit: 4},message:"must NOT have more than 4 items"}];
return false;
}
else {
var valid7 = true;
const len0 = data8.length;
for(let i0=0; i0<len0; i0++){
const _errs24 = errors;
if(!(validate12(data8[i0], {instancePath:instancePath+"/credentials/" + i0,parentData:data8,parentDataProperty:i0,rootData}))){
vErrors = vErrors === null ? validate12.errors : vErrors.concat(validate12.errors);
errors = vErrors.length;
}
var valid7 = _errs24 === errors;
if(!valid7){
break;
}
}
}
}
else {
validate37.errors = [{instancePath:instancePath+"/credentials",schemaPath:"#/properties/credentials/type",keyword:"type",params:{type: "array"},message:"must be array"}];
return false;
}
}
var valid0 = _errs22 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.modelsAllow !== undefined){
let data10 = data.modelsAllow;
const _errs25 = errors;
const _errs26 = errors;
if(errors === _errs26){
if(Array.isArray(data10)){
if(data10.length > 256){
validate37.errors = [{instancePath:instancePath+"/modelsAllow",schemaPath:"#/definitions/patterns/maxItems",keyword:"maxItems",params:{limit: 256},message:"must NOT have more than 256 items"}];
return false;
}
else {
var valid9 = true;
const len1 = data10.length;
for(let i1=0; i1<len1; i1++){
let data11 = data10[i1];
const _errs28 = errors;
if(errors === _errs28){
if(typeof data11 === "string"){
if(data11.length > 256){
validate37.errors = [{instancePath:instancePath+"/modelsAllow/" + i1,schemaPath:"#/definitions/patterns/items/maxLength",keyword:"maxLength",params:{limit: 256},message:"must NOT have more than 256 characters"}];
return false;
}
else {
if(data11.length < 1){
validate37.errors = [{instancePath:instancePath+"/modelsAllow/" + i1,schemaPath:"#/definitions/patterns/items/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
}
}
else {
validate37.errors = [{instancePath:instancePath+"/modelsAllow/" + i1,schemaPath:"#/definitions/patterns/items/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid9 = _errs28 === errors;
if(!valid9){
break;
}
}
}
}
else {
validate37.errors = [{instancePath:instancePath+"/modelsAllow",schemaPath:"#/definitions/patterns/type",keyword:"type",params:{type: "array"},message:"must be array"}];
return false;
}
}
var valid0 = _errs25 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.modelsDeny !== undefined){
let data12 = data.modelsDeny;
const _errs30 = errors;
const _errs31 = errors;
if(errors === _errs31){
if(Array.isArray(data12)){
if(data12.length > 256){
validate37.errors = [{instancePath:instancePath+"/modelsDeny",schemaPath:"#/definitions/patterns/maxItems",keyword:"maxItems",params:{limit: 256},message:"must NOT have more than 256 items"}];
return false;
}
else {
var valid11 = true;
const len2 = data12.length;
for(let i2=0; i2<len2; i2++){
let data13 = data12[i2];
const _errs33 = errors;
if(errors === _errs33){
if(typeof data13 === "string"){
if(data13.length > 256){
validate37.errors = [{instancePath:instancePath+"/modelsDeny/" + i2,schemaPath:"#/definitions/patterns/items/maxLength",keyword:"maxLength",params:{limit: 256},message:"must NOT have more than 256 characters"}];
return false;
}
else {
if(data13.length < 1){
validate37.errors = [{instancePath:instancePath+"/modelsDeny/" + i2,schemaPath:"#/definitions/patterns/items/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
}
}
else {
validate37.errors = [{instancePath:instancePath+"/modelsDeny/" + i2,schemaPath:"#/definitions/patterns/items/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid11 = _errs33 === errors;
if(!valid11){
break;
}
}
}
}
else {
validate37.errors = [{instancePath:instancePath+"/modelsDeny",schemaPath:"#/definitions/patterns/type",keyword:"type",params:{type: "array"},message:"must be array"}];
return false;
}
}
var valid0 = _errs30 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.cidrsAllow !== undefined){
let data14 = data.cidrsAllow;
const _errs35 = errors;
if(errors === _errs35){
if(Array.isArray(data14)){
if(data14.length > 64){
validate37.errors = [{instancePath:instancePath+"/cidrsAllow",schemaPath:"#/properties/cidrsAllow/maxItems",keyword:"maxItems",params:{limit: 64},message:"must NOT have more than 64 items"}];
return false;
}
else {
var valid12 = true;
const len3 = data14.length;
for(let i3=0; i3<len3; i3++){
let data15 = data14[i3];
const _errs37 = errors;
if(errors === _errs37){
if(typeof data15 === "string"){
if(data15.length > 64){
validate37.errors = [{instancePath:instancePath+"/cidrsAllow/" + i3,schemaPath:"#/properties/cidrsAllow/items/maxLength",keyword:"maxLength",params:{limit: 64},message:"must NOT have more than 64 characters"}];
return false;
}
}
else {
validate37.errors = [{instancePath:instancePath+"/cidrsAllow/" + i3,schemaPath:"#/properties/cidrsAllow/items/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid12 = _errs37 === errors;
if(!valid12){
break;
}
}
}
}
else {
validate37.errors = [{instancePath:instancePath+"/cidrsAllow",schemaPath:"#/properties/cidrsAllow/type",keyword:"type",params:{type: "array"},message:"must be array"}];
return false;
}
}
var valid0 = _errs35 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.cidrsDeny !== undefined){
let data16 = data.cidrsDeny;
const _errs39 = errors;
if(errors === _errs39){
if(Array.isArray(data16)){
if(data16.length > 64){
validate37.errors = [{instancePath:instancePath+"/cidrsDeny",schemaPath:"#/properties/cidrsDeny/maxItems",keyword:"maxItems",params:{limit: 64},message:"must NOT have more than 64 items"}];
return false;
}
else {
var valid13 = true;
const len4 = data16.length;
for(let i4=0; i4<len4; i4++){
let data17 = data16[i4];
const _errs41 = errors;
if(errors === _errs41){
if(typeof data17 === "string"){
if(data17.length > 64){
validate37.errors = [{instancePath:instancePath+"/cidrsDeny/" + i4,schemaPath:"#/properties/cidrsDeny/items/maxLength",keyword:"maxLength",params:{limit: 64},message:"must NOT have more than 64 characters"}];
return false;
}
}
else {
validate37.errors = [{instancePath:instancePath+"/cidrsDeny/" + i4,schemaPath:"#/properties/cidrsDeny/items/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid13 = _errs41 === errors;
if(!valid13){
break;
}
}
}
}
else {
validate37.errors = [{instancePath:instancePath+"/cidrsDeny",schemaPath:"#/properties/cidrsDeny/type",keyword:"type",params:{type: "array"},message:"must be array"}];
return false;
}
}
var valid0 = _errs39 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.protocols !== undefined){
let data18 = data.protocols;
const _errs43 = errors;
if(errors === _errs43){
if(Array.isArray(data18)){
if(data18.length > 3){
validate37.errors = [{instancePath:instancePath+"/protocols",schemaPath:"#/properties/protocols/maxItems",keyword:"maxItems",params:{limit: 3},message:"must NOT have more than 3 items"}];
return false;
}
else {
var valid14 = true;
const len5 = data18.length;
for(let i5=0; i5<len5; i5++){
let data19 = data18[i5];
const _errs45 = errors;
if(!(((data19 === "OpenAI") || (data19 === "Anthropic")) || (data19 === "Gemini"))){
validate37.errors = [{instancePath:instancePath+"/protocols/" + i5,schemaPath:"#/properties/protocols/items/enum",keyword:"enum",params:{allowedValues: schema12.properties.protocols.items.enum},message:"must be equal to one of the allowed values"}];
return false;
}
var valid14 = _errs45 === errors;
if(!valid14){
break;
}
}
}
}
else {
validate37.errors = [{instancePath:instancePath+"/protocols",schemaPath:"#/properties/protocols/type",keyword:"type",params:{type: "array"},message:"must be array"}];
return false;
}
}
var valid0 = _errs43 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.capabilities !== undefined){
let data20 = data.capabilities;
const _errs46 = errors;
if(errors === _errs46){
if(Array.isArray(data20)){
if(data20.length > 16){
validate37.errors = [{instancePath:instancePath+"/capabilities",schemaPath:"#/properties/capabilities/maxItems",keyword:"maxItems",params:{limit: 16},message:"must NOT have more than 16 items"}];
return false;
}
else {
var valid15 = true;
const len6 = data20.length;
for(let i6=0; i6<len6; i6++){
let data21 = data20[i6];
const _errs48 = errors;
if(!((((((((((((((data21 === "Chat") || (data21 === "Completion")) || (data21 === "CountTokens")) || (data21 === "Embeddings")) || (data21 === "Rerank")) || (data21 === "Speech")) || (data21 === "Transcription")) || (data21 === "Translation")) || (data21 === "ImageGeneration")) || (data21 === "ImageEdit")) || (data21 === "Moderation")) || (data21 === "Realtime")) || (data21 === "Models")) || (data21 === "Passthrough"))){
validate37.errors = [{instancePath:instancePath+"/capabilities/" + i6,schemaPath:"#/definitions/capability/enum",keyword:"enum",params:{allowedValues: schema24.enum},message:"must be equal to one of the allowed values"}];
return false;
}
var valid15 = _errs48 === errors;
if(!valid15){
break;
}
}
}
}
else {
validate37.errors = [{instancePath:instancePath+"/capabilities",schemaPath:"#/properties/capabilities/type",keyword:"type",params:{type: "array"},message:"must be array"}];
return false;
}
}
var valid0 = _errs46 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.limits !== undefined){
const _errs50 = errors;
if(!(validate14(data.limits, {instancePath:instancePath+"/limits",parentData:data,parentDataProperty:"limits",rootData}))){
vErrors = vErrors === null ? validate14.errors : vErrors.concat(validate14.errors);
errors = vErrors.length;
}
var valid0 = _errs50 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.maxInFlight !== undefined){
let data23 = data.maxInFlight;
const _errs51 = errors;
if(!((typeof data23 == "number") && (!(data23 % 1) && !isNaN(data23)))){
validate37.errors = [{instancePath:instancePath+"/maxInFlight",schemaPath:"#/properties/maxInFlight/type",keyword:"type",params:{type: "integer"},message:"must be integer"}];
return false;
}
if(errors === _errs51){
if(typeof data23 == "number"){
if(data23 > 100000 || isNaN(data23)){
validate37.errors = [{instancePath:instancePath+"/maxInFlight",schemaPath:"#/properties/maxInFlight/maximum",keyword:"maximum",params:{comparison: "<=", limit: 100000},message:"must be <= 100000"}];
return false;
}
else {
if(data23 < 1 || isNaN(data23)){
validate37.errors = [{instancePath:instancePath+"/maxInFlight",schemaPath:"#/properties/maxInFlight/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1"}];
return false;
}
}
}
}
var valid0 = _errs51 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.metadata !== undefined){
let data24 = data.metadata;
const _errs53 = errors;
const _errs54 = errors;
if(errors === _errs54){
if(data24 && typeof data24 == "object" && !Array.isArray(data24)){
if(Object.keys(data24).length > 128){
validate37.errors = [{instancePath:instancePath+"/metadata",schemaPath:"#/definitions/labels/maxProperties",keyword:"maxProperties",params:{limit: 128},message:"must NOT have more than 128 properties"}];
return false;
}
else {
for(const key2 in data24){
let data25 = data24[key2];
const _errs57 = errors;
if(errors === _errs57){
if(typeof data25 === "string"){
if(data25.length > 253){
validate37.errors = [{instancePath:instancePath+"/metadata/" + key2.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/definitions/labels/additionalProperties/maxLength",keyword:"maxLength",params:{limit: 253},message:"must NOT have more than 253 characters"}];
return false;
}
}
else {
validate37.errors = [{instancePath:instancePath+"/metadata/" + key2.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/definitions/labels/additionalProperties/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid18 = _errs57 === errors;
if(!valid18){
break;
}
}
}
}
else {
validate37.errors = [{instancePath:instancePath+"/metadata",schemaPath:"#/definitions/labels/type",keyword:"type",params:{type: "object"},message:"must be object"}];
return false;
}
}
var valid0 = _errs53 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
else {
validate37.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"}];
return false;
}
}
validate37.errors = vErrors;
return errors === 0;
}

export const account = validate40;
const schema31 = {"type":"object","additionalProperties":false,"required":["kind","namespace","name","state"],"properties":{"kind":{"const":"account"},"namespace":{"$ref":"#/definitions/name"},"name":{"$ref":"#/definitions/name"},"state":{"enum":["Active","Suspended"]},"creditNanos":{"$ref":"#/definitions/amount","description":"Cumulative credit granted; absent means unlimited."},"overdraftNanos":{"$ref":"#/definitions/amount"},"limits":{"$ref":"#/definitions/limits"},"defaultKeyLimits":{"$ref":"#/definitions/limits"}}};

function validate40(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((((data.kind === undefined) && (missing0 = "kind")) || ((data.namespace === undefined) && (missing0 = "namespace"))) || ((data.name === undefined) && (missing0 = "name"))) || ((data.state === undefined) && (missing0 = "state"))){
validate40.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'"}];
return false;
}
else {
const _errs1 = errors;
for(const key0 in data){
if(!((((((((key0 === "kind") || (key0 === "namespace")) || (key0 === "name")) || (key0 === "state")) || (key0 === "creditNanos")) || (key0 === "overdraftNanos")) || (key0 === "limits")) || (key0 === "defaultKeyLimits"))){
validate40.errors = [{instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties"}];
return false;
break;
}
}
if(_errs1 === errors){
if(data.kind !== undefined){
const _errs2 = errors;
if("account" !== data.kind){
validate40.errors = [{instancePath:instancePath+"/kind",schemaPath:"#/properties/kind/const",keyword:"const",params:{allowedValue: "account"},message:"must be equal to constant"}];
return false;
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.namespace !== undefined){
let data1 = data.namespace;
const _errs3 = errors;
const _errs4 = errors;
if(errors === _errs4){
if(typeof data1 === "string"){
if(data1.length > 253){
validate40.errors = [{instancePath:instancePath+"/namespace",schemaPath:"#/definitions/name/maxLength",keyword:"maxLength",params:{limit: 253},message:"must NOT have more than 253 characters"}];
return false;
}
else {
if(data1.length < 1){
validate40.errors = [{instancePath:instancePath+"/namespace",schemaPath:"#/definitions/name/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
else {
if(!pattern0.test(data1)){
validate40.errors = [{instancePath:instancePath+"/namespace",schemaPath:"#/definitions/name/pattern",keyword:"pattern",params:{pattern: "^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$"},message:"must match pattern \""+"^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$"+"\""}];
return false;
}
}
}
}
else {
validate40.errors = [{instancePath:instancePath+"/namespace",schemaPath:"#/definitions/name/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.name !== undefined){
let data2 = data.name;
const _errs6 = errors;
const _errs7 = errors;
if(errors === _errs7){
if(typeof data2 === "string"){
if(data2.length > 253){
validate40.errors = [{instancePath:instancePath+"/name",schemaPath:"#/definitions/name/maxLength",keyword:"maxLength",params:{limit: 253},message:"must NOT have more than 253 characters"}];
return false;
}
else {
if(data2.length < 1){
validate40.errors = [{instancePath:instancePath+"/name",schemaPath:"#/definitions/name/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
else {
if(!pattern0.test(data2)){
validate40.errors = [{instancePath:instancePath+"/name",schemaPath:"#/definitions/name/pattern",keyword:"pattern",params:{pattern: "^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$"},message:"must match pattern \""+"^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$"+"\""}];
return false;
}
}
}
}
else {
validate40.errors = [{instancePath:instancePath+"/name",schemaPath:"#/definitions/name/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid0 = _errs6 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.state !== undefined){
let data3 = data.state;
const _errs9 = errors;
if(!((data3 === "Active") || (data3 === "Suspended"))){
validate40.errors = [{instancePath:instancePath+"/state",schemaPath:"#/properties/state/enum",keyword:"enum",params:{allowedValues: schema31.properties.state.enum},message:"must be equal to one of the allowed values"}];
return false;
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.creditNanos !== undefined){
let data4 = data.creditNanos;
const _errs10 = errors;
const _errs11 = errors;
if(errors === _errs11){
if(typeof data4 === "string"){
if(!pattern6.test(data4)){
validate40.errors = [{instancePath:instancePath+"/creditNanos",schemaPath:"#/definitions/amount/pattern",keyword:"pattern",params:{pattern: "^[0-9]{1,19}$"},message:"must match pattern \""+"^[0-9]{1,19}$"+"\""}];
return false;
}
}
else {
validate40.errors = [{instancePath:instancePath+"/creditNanos",schemaPath:"#/definitions/amount/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid0 = _errs10 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.overdraftNanos !== undefined){
let data5 = data.overdraftNanos;
const _errs13 = errors;
const _errs14 = errors;
if(errors === _errs14){
if(typeof data5 === "string"){
if(!pattern6.test(data5)){
validate40.errors = [{instancePath:instancePath+"/overdraftNanos",schemaPath:"#/definitions/amount/pattern",keyword:"pattern",params:{pattern: "^[0-9]{1,19}$"},message:"must match pattern \""+"^[0-9]{1,19}$"+"\""}];
return false;
}
}
else {
validate40.errors = [{instancePath:instancePath+"/overdraftNanos",schemaPath:"#/definitions/amount/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid0 = _errs13 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.limits !== undefined){
const _errs16 = errors;
if(!(validate14(data.limits, {instancePath:instancePath+"/limits",parentData:data,parentDataProperty:"limits",rootData}))){
vErrors = vErrors === null ? validate14.errors : vErrors.concat(validate14.errors);
errors = vErrors.length;
}
var valid0 = _errs16 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.defaultKeyLimits !== undefined){
const _errs17 = errors;
if(!(validate14(data.defaultKeyLimits, {instancePath:instancePath+"/defaultKeyLimits",parentData:data,parentDataProperty:"defaultKeyLimits",rootData}))){
vErrors = vErrors === null ? validate14.errors : vErrors.concat(validate14.errors);
errors = vErrors.length;
}
var valid0 = _errs17 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
}
}
else {
validate40.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"}];
return false;
}
}
validate40.errors = vErrors;
return errors === 0;
}

export const channel = validate43;
const schema36 = {"type":"object","additionalProperties":false,"required":["kind","namespace","name","state","provider","baseURL","formats","auth","credentials","privacy","unsupportedParameters","upstreamObjects","timeouts"],"properties":{"kind":{"const":"channel"},"namespace":{"$ref":"#/definitions/name"},"name":{"$ref":"#/definitions/name"},"state":{"enum":["Active","Draining","Disabled"]},"provider":{"enum":["OpenAI","Anthropic","Gemini","AzureOpenAI","Bedrock","VertexAI","Cohere","OpenAICompatible","AnthropicCompatible","GeminiCompatible"]},"quirks":{"enum":["Groq","Mistral"],"description":"Whose deviations from other upstreams of the provider hold (proxy/providers); absent: nobody's."},"baseURL":{"type":"string","maxLength":2048,"pattern":"^https?://[^/?#@]+[^?#]*$","description":"Origin and path prefix, without a trailing slash; a format's path is appended to it."},"formats":{"type":"array","minItems":1,"maxItems":32,"items":{"type":"object","additionalProperties":false,"required":["type","path"],"properties":{"type":{"$ref":"#/definitions/wireFormat"},"path":{"type":"string","maxLength":1024,"pattern":"^/","description":"Appended to baseURL. `{model}` stands for the percent-encoded upstream model, `{verb}` for generateContent, streamGenerateContent, embedContent or batchEmbedContents."},"dialect":{"enum":["OpenAI","Cohere","Voyage","Jina","TEI"],"description":"Whose shape of the format the upstream speaks; absent: OpenAI for Embeddings, Jina for Rerank."}}}},"auth":{"type":"object","additionalProperties":false,"required":["location","name","scheme"],"properties":{"location":{"enum":["Header","Query"]},"name":{"type":"string","minLength":1,"maxLength":128},"scheme":{"enum":["Bearer","Raw"]}}},"credentials":{"type":"array","maxItems":32,"items":{"type":"object","additionalProperties":false,"required":["name","weight","state"],"properties":{"name":{"$ref":"#/definitions/name"},"weight":{"type":"integer","minimum":0,"maximum":1000000},"state":{"enum":["Active","Draining","Disabled"]}}}},"models":{"type":"array","maxItems":512,"items":{"type":"object","additionalProperties":false,"required":["name"],"properties":{"name":{"type":"string","minLength":1,"maxLength":256},"upstreamName":{"type":"string","minLength":1,"maxLength":256},"capabilities":{"type":"array","maxItems":16,"items":{"$ref":"#/definitions/capability"}},"traits":{"type":"object","additionalProperties":false,"properties":{"like":{"type":"string","minLength":1,"maxLength":256},"maxOutputTokens":{"type":"integer","minimum":1,"maximum":2147483647},"thinking":{"enum":["None","Optional","Always"]},"forcedTools":{"enum":["Accepted","Refused"]},"toolsWithThinking":{"enum":["Accepted","Refused"]},"hostedToolsWithFunctions":{"enum":["Accepted","Refused"]},"sampling":{"enum":["Accepted","Refused"]}}}}}},"headersSet":{"type":"array","maxItems":16,"items":{"type":"object","additionalProperties":false,"required":["name","value"],"properties":{"name":{"type":"string","maxLength":128,"pattern":"^[!#$%&'*+.^_`|~0-9A-Za-z-]+$"},"value":{"type":"string","maxLength":4096,"pattern":"^[\\t\\x20-\\x7e]*$"}}}},"headersRemove":{"type":"array","maxItems":16,"items":{"type":"string","maxLength":128}},"body":{"$ref":"#/definitions/bodyRules"},"privacy":{"type":"object","additionalProperties":false,"required":["store","safetyIdentifier","streamObfuscation","clientMetadata"],"properties":{"store":{"enum":["PassThrough","ForceFalse"]},"safetyIdentifier":{"enum":["Strip","Forward"]},"streamObfuscation":{"enum":["Strip","Forward"]},"clientMetadata":{"enum":["Forward","Strip"]}}},"unsupportedParameters":{"enum":["Ignore","Reject"]},"upstreamObjects":{"enum":["Refuse","Shared"]},"timeouts":{"$ref":"#/definitions/timeouts"},"limits":{"$ref":"#/definitions/limits"},"maxInFlight":{"type":"integer","minimum":1,"maximum":1000000},"tls":{"type":"object","additionalProperties":false,"properties":{"ca":{"type":"string","maxLength":1048576},"serverName":{"type":"string","maxLength":253},"certificate":{"type":"string","maxLength":65536},"privateKey":{"type":"string","maxLength":65536}}},"proxyURL":{"type":"string","maxLength":2048,"pattern":"^https?://"}}};
const schema39 = {"enum":["ChatCompletions","Responses","Messages","GenerateContent","Completions","Embeddings","EmbedContent","Rerank","ImageGenerations","ImageEdits","ImageVariations","Predict","Speech","Transcriptions","Translations","Moderations","Realtime","CountTokens","Passthrough"]};
const pattern14 = new RegExp("^https?://[^/?#@]+[^?#]*$", "u");
const pattern15 = new RegExp("^/", "u");
const pattern17 = new RegExp("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$", "u");
const pattern18 = new RegExp("^[\\t\\x20-\\x7e]*$", "u");
const pattern19 = new RegExp("^https?://", "u");
const schema42 = {"type":"object","additionalProperties":false,"properties":{"default":{"type":"array","maxItems":64,"items":{"$ref":"#/definitions/jsonMember"}},"set":{"type":"array","maxItems":64,"items":{"$ref":"#/definitions/jsonMember"}},"remove":{"type":"array","maxItems":64,"items":{"type":"string","minLength":1,"maxLength":256}}}};
const schema43 = {"type":"object","additionalProperties":false,"required":["field","value"],"properties":{"field":{"type":"string","minLength":1,"maxLength":256},"value":{"tsType":"unknown"}}};

function validate24(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
const _errs1 = errors;
for(const key0 in data){
if(!(((key0 === "default") || (key0 === "set")) || (key0 === "remove"))){
validate24.errors = [{instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties"}];
return false;
break;
}
}
if(_errs1 === errors){
if(data.default !== undefined){
let data0 = data.default;
const _errs2 = errors;
if(errors === _errs2){
if(Array.isArray(data0)){
if(data0.length > 64){
validate24.errors = [{instancePath:instancePath+"/default",schemaPath:"#/properties/default/maxItems",keyword:"maxItems",params:{limit: 64},message:"must NOT have more than 64 items"}];
return false;
}
else {
var valid1 = true;
const len0 = data0.length;
for(let i0=0; i0<len0; i0++){
let data1 = data0[i0];
const _errs4 = errors;
const _errs5 = errors;
if(errors === _errs5){
if(data1 && typeof data1 == "object" && !Array.isArray(data1)){
let missing0;
if(((data1.field === undefined) && (missing0 = "field")) || ((data1.value === undefined) && (missing0 = "value"))){
validate24.errors = [{instancePath:instancePath+"/default/" + i0,schemaPath:"#/definitions/jsonMember/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'"}];
return false;
}
else {
const _errs7 = errors;
for(const key1 in data1){
if(!((key1 === "field") || (key1 === "value"))){
validate24.errors = [{instancePath:instancePath+"/default/" + i0,schemaPath:"#/definitions/jsonMember/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key1},message:"must NOT have additional properties"}];
return false;
break;
}
}
if(_errs7 === errors){
if(data1.field !== undefined){
let data2 = data1.field;
const _errs8 = errors;
if(errors === _errs8){
if(typeof data2 === "string"){
if(data2.length > 256){
validate24.errors = [{instancePath:instancePath+"/default/" + i0+"/field",schemaPath:"#/definitions/jsonMember/properties/field/maxLength",keyword:"maxLength",params:{limit: 256},message:"must NOT have more than 256 characters"}];
return false;
}
else {
if(data2.length < 1){
validate24.errors = [{instancePath:instancePath+"/default/" + i0+"/field",schemaPath:"#/definitions/jsonMember/properties/field/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
}
}
else {
validate24.errors = [{instancePath:instancePath+"/default/" + i0+"/field",schemaPath:"#/definitions/jsonMember/properties/field/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
}
}
}
}
else {
validate24.errors = [{instancePath:instancePath+"/default/" + i0,schemaPath:"#/definitions/jsonMember/type",keyword:"type",params:{type: "object"},message:"must be object"}];
return false;
}
}
var valid1 = _errs4 === errors;
if(!valid1){
break;
}
}
}
}
else {
validate24.errors = [{instancePath:instancePath+"/default",schemaPath:"#/properties/default/type",keyword:"type",params:{type: "array"},message:"must be array"}];
return false;
}
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.set !== undefined){
let data3 = data.set;
const _errs10 = errors;
if(errors === _errs10){
if(Array.isArray(data3)){
if(data3.length > 64){
validate24.errors = [{instancePath:instancePath+"/set",schemaPath:"#/properties/set/maxItems",keyword:"maxItems",params:{limit: 64},message:"must NOT have more than 64 items"}];
return false;
}
else {
var valid4 = true;
const len1 = data3.length;
for(let i1=0; i1<len1; i1++){
let data4 = data3[i1];
const _errs12 = errors;
const _errs13 = errors;
if(errors === _errs13){
if(data4 && typeof data4 == "object" && !Array.isArray(data4)){
let missing1;
if(((data4.field === undefined) && (missing1 = "field")) || ((data4.value === undefined) && (missing1 = "value"))){
validate24.errors = [{instancePath:instancePath+"/set/" + i1,schemaPath:"#/definitions/jsonMember/required",keyword:"required",params:{missingProperty: missing1},message:"must have required property '"+missing1+"'"}];
return false;
}
else {
const _errs15 = errors;
for(const key2 in data4){
if(!((key2 === "field") || (key2 === "value"))){
validate24.errors = [{instancePath:instancePath+"/set/" + i1,schemaPath:"#/definitions/jsonMember/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key2},message:"must NOT have additional properties"}];
return false;
break;
}
}
if(_errs15 === errors){
if(data4.field !== undefined){
let data5 = data4.field;
const _errs16 = errors;
if(errors === _errs16){
if(typeof data5 === "string"){
if(data5.length > 256){
validate24.errors = [{instancePath:instancePath+"/set/" + i1+"/field",schemaPath:"#/definitions/jsonMember/properties/field/maxLength",keyword:"maxLength",params:{limit: 256},message:"must NOT have more than 256 characters"}];
return false;
}
else {
if(data5.length < 1){
validate24.errors = [{instancePath:instancePath+"/set/" + i1+"/field",schemaPath:"#/definitions/jsonMember/properties/field/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
}
}
else {
validate24.errors = [{instancePath:instancePath+"/set/" + i1+"/field",schemaPath:"#/definitions/jsonMember/properties/field/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
}
}
}
}
else {
validate24.errors = [{instancePath:instancePath+"/set/" + i1,schemaPath:"#/definitions/jsonMember/type",keyword:"type",params:{type: "object"},message:"must be object"}];
return false;
}
}
var valid4 = _errs12 === errors;
if(!valid4){
break;
}
}
}
}
else {
validate24.errors = [{instancePath:instancePath+"/set",schemaPath:"#/properties/set/type",keyword:"type",params:{type: "array"},message:"must be array"}];
return false;
}
}
var valid0 = _errs10 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.remove !== undefined){
let data6 = data.remove;
const _errs18 = errors;
if(errors === _errs18){
if(Array.isArray(data6)){
if(data6.length > 64){
validate24.errors = [{instancePath:instancePath+"/remove",schemaPath:"#/properties/remove/maxItems",keyword:"maxItems",params:{limit: 64},message:"must NOT have more than 64 items"}];
return false;
}
else {
var valid7 = true;
const len2 = data6.length;
for(let i2=0; i2<len2; i2++){
let data7 = data6[i2];
const _errs20 = errors;
if(errors === _errs20){
if(typeof data7 === "string"){
if(data7.length > 256){
validate24.errors = [{instancePath:instancePath+"/remove/" + i2,schemaPath:"#/properties/remove/items/maxLength",keyword:"maxLength",params:{limit: 256},message:"must NOT have more than 256 characters"}];
return false;
}
else {
if(data7.length < 1){
validate24.errors = [{instancePath:instancePath+"/remove/" + i2,schemaPath:"#/properties/remove/items/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
}
}
else {
validate24.errors = [{instancePath:instancePath+"/remove/" + i2,schemaPath:"#/properties/remove/items/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid7 = _errs20 === errors;
if(!valid7){
break;
}
}
}
}
else {
validate24.errors = [{instancePath:instancePath+"/remove",schemaPath:"#/properties/remove/type",keyword:"type",params:{type: "array"},message:"must be array"}];
return false;
}
}
var valid0 = _errs18 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
else {
validate24.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"}];
return false;
}
}
validate24.errors = vErrors;
return errors === 0;
}

const schema45 = {"type":"object","additionalProperties":false,"properties":{"connectMs":{"$ref":"#/definitions/durationMs"},"firstByteMs":{"$ref":"#/definitions/durationMs"},"streamIdleMs":{"$ref":"#/definitions/durationMs"},"totalMs":{"$ref":"#/definitions/durationMs"}}};
const schema46 = {"type":"integer","minimum":0,"maximum":4294967295,"description":"Milliseconds; 0 switches the timeout off."};

function validate26(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
const _errs1 = errors;
for(const key0 in data){
if(!((((key0 === "connectMs") || (key0 === "firstByteMs")) || (key0 === "streamIdleMs")) || (key0 === "totalMs"))){
validate26.errors = [{instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties"}];
return false;
break;
}
}
if(_errs1 === errors){
if(data.connectMs !== undefined){
let data0 = data.connectMs;
const _errs2 = errors;
const _errs3 = errors;
if(!((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0)))){
validate26.errors = [{instancePath:instancePath+"/connectMs",schemaPath:"#/definitions/durationMs/type",keyword:"type",params:{type: "integer"},message:"must be integer"}];
return false;
}
if(errors === _errs3){
if(typeof data0 == "number"){
if(data0 > 4294967295 || isNaN(data0)){
validate26.errors = [{instancePath:instancePath+"/connectMs",schemaPath:"#/definitions/durationMs/maximum",keyword:"maximum",params:{comparison: "<=", limit: 4294967295},message:"must be <= 4294967295"}];
return false;
}
else {
if(data0 < 0 || isNaN(data0)){
validate26.errors = [{instancePath:instancePath+"/connectMs",schemaPath:"#/definitions/durationMs/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"}];
return false;
}
}
}
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.firstByteMs !== undefined){
let data1 = data.firstByteMs;
const _errs5 = errors;
const _errs6 = errors;
if(!((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1)))){
validate26.errors = [{instancePath:instancePath+"/firstByteMs",schemaPath:"#/definitions/durationMs/type",keyword:"type",params:{type: "integer"},message:"must be integer"}];
return false;
}
if(errors === _errs6){
if(typeof data1 == "number"){
if(data1 > 4294967295 || isNaN(data1)){
validate26.errors = [{instancePath:instancePath+"/firstByteMs",schemaPath:"#/definitions/durationMs/maximum",keyword:"maximum",params:{comparison: "<=", limit: 4294967295},message:"must be <= 4294967295"}];
return false;
}
else {
if(data1 < 0 || isNaN(data1)){
validate26.errors = [{instancePath:instancePath+"/firstByteMs",schemaPath:"#/definitions/durationMs/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"}];
return false;
}
}
}
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.streamIdleMs !== undefined){
let data2 = data.streamIdleMs;
const _errs8 = errors;
const _errs9 = errors;
if(!((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2)))){
validate26.errors = [{instancePath:instancePath+"/streamIdleMs",schemaPath:"#/definitions/durationMs/type",keyword:"type",params:{type: "integer"},message:"must be integer"}];
return false;
}
if(errors === _errs9){
if(typeof data2 == "number"){
if(data2 > 4294967295 || isNaN(data2)){
validate26.errors = [{instancePath:instancePath+"/streamIdleMs",schemaPath:"#/definitions/durationMs/maximum",keyword:"maximum",params:{comparison: "<=", limit: 4294967295},message:"must be <= 4294967295"}];
return false;
}
else {
if(data2 < 0 || isNaN(data2)){
validate26.errors = [{instancePath:instancePath+"/streamIdleMs",schemaPath:"#/definitions/durationMs/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"}];
return false;
}
}
}
}
var valid0 = _errs8 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.totalMs !== undefined){
let data3 = data.totalMs;
const _errs11 = errors;
const _errs12 = errors;
if(!((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3)))){
validate26.errors = [{instancePath:instancePath+"/totalMs",schemaPath:"#/definitions/durationMs/type",keyword:"type",params:{type: "integer"},message:"must be integer"}];
return false;
}
if(errors === _errs12){
if(typeof data3 == "number"){
if(data3 > 4294967295 || isNaN(data3)){
validate26.errors = [{instancePath:instancePath+"/totalMs",schemaPath:"#/definitions/durationMs/maximum",keyword:"maximum",params:{comparison: "<=", limit: 4294967295},message:"must be <= 4294967295"}];
return false;
}
else {
if(data3 < 0 || isNaN(data3)){
validate26.errors = [{instancePath:instancePath+"/totalMs",schemaPath:"#/definitions/durationMs/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"}];
return false;
}
}
}
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
else {
validate26.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"}];
return false;
}
}
validate26.errors = vErrors;
return errors === 0;
}


function validate43(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((((((((((((data.kind === undefined) && (missing0 = "kind")) || ((data.namespace === undefined) && (missing0 = "namespace"))) || ((data.name === undefined) && (missing0 = "name"))) || ((data.state === undefined) && (missing0 = "state"))) || ((data.provider === undefined) && (missing0 = "provider"))) || ((data.baseURL === undefined) && (missing0 = "baseURL"))) || ((data.formats === undefined) && (missing0 = "formats"))) || ((data.auth === undefined) && (missing0 = "auth"))) || ((data.credentials === undefined) && (missing0 = "credentials"))) || ((data.privacy === undefined) && (missing0 = "privacy"))) || ((data.unsupportedParameters === undefined) && (missing0 = "unsupportedParameters"))) || ((data.upstreamObjects === undefined) && (missing0 = "upstreamObjects"))) || ((data.timeouts === undefined) && (missing0 = "timeouts"))){
validate43.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'"}];
return false;
}
else {
const _errs1 = errors;
for(const key0 in data){
if(!(func2.call(schema36.properties, key0))){
validate43.errors = [{instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties"}];
return false;
break;
}
}
if(_errs1 === errors){
if(data.kind !== undefined){
const _errs2 = errors;
if("channel" !== data.kind){
validate43.errors = [{instancePath:instancePath+"/kind",schemaPath:"#/properties/kind/const",keyword:"const",params:{allowedValue: "channel"},message:"must be equal to constant"}];
return false;
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.namespace !== undefined){
let data1 = data.namespace;
const _errs3 = errors;
const _errs4 = errors;
if(errors === _errs4){
if(typeof data1 === "string"){
if(data1.length > 253){
validate43.errors = [{instancePath:instancePath+"/namespace",schemaPath:"#/definitions/name/maxLength",keyword:"maxLength",params:{limit: 253},message:"must NOT have more than 253 characters"}];
return false;
}
else {
if(data1.length < 1){
validate43.errors = [{instancePath:instancePath+"/namespace",schemaPath:"#/definitions/name/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
else {
if(!pattern0.test(data1)){
validate43.errors = [{instancePath:instancePath+"/namespace",schemaPath:"#/definitions/name/pattern",keyword:"pattern",params:{pattern: "^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$"},message:"must match pattern \""+"^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$"+"\""}];
return false;
}
}
}
}
else {
validate43.errors = [{instancePath:instancePath+"/namespace",schemaPath:"#/definitions/name/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.name !== undefined){
let data2 = data.name;
const _errs6 = errors;
const _errs7 = errors;
if(errors === _errs7){
if(typeof data2 === "string"){
if(data2.length > 253){
validate43.errors = [{instancePath:instancePath+"/name",schemaPath:"#/definitions/name/maxLength",keyword:"maxLength",params:{limit: 253},message:"must NOT have more than 253 characters"}];
return false;
}
else {
if(data2.length < 1){
validate43.errors = [{instancePath:instancePath+"/name",schemaPath:"#/definitions/name/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
else {
if(!pattern0.test(data2)){
validate43.errors = [{instancePath:instancePath+"/name",schemaPath:"#/definitions/name/pattern",keyword:"pattern",params:{pattern: "^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$"},message:"must match pattern \""+"^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$"+"\""}];
return false;
}
}
}
}
else {
validate43.errors = [{instancePath:instancePath+"/name",schemaPath:"#/definitions/name/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid0 = _errs6 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.state !== undefined){
let data3 = data.state;
const _errs9 = errors;
if(!(((data3 === "Active") || (data3 === "Draining")) || (data3 === "Disabled"))){
validate43.errors = [{instancePath:instancePath+"/state",schemaPath:"#/properties/state/enum",keyword:"enum",params:{allowedValues: schema36.properties.state.enum},message:"must be equal to one of the allowed values"}];
return false;
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.provider !== undefined){
let data4 = data.provider;
const _errs10 = errors;
if(!((((((((((data4 === "OpenAI") || (data4 === "Anthropic")) || (data4 === "Gemini")) || (data4 === "AzureOpenAI")) || (data4 === "Bedrock")) || (data4 === "VertexAI")) || (data4 === "Cohere")) || (data4 === "OpenAICompatible")) || (data4 === "AnthropicCompatible")) || (data4 === "GeminiCompatible"))){
validate43.errors = [{instancePath:instancePath+"/provider",schemaPath:"#/properties/provider/enum",keyword:"enum",params:{allowedValues: schema36.properties.provider.enum},message:"must be equal to one of the allowed values"}];
return false;
}
var valid0 = _errs10 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.quirks !== undefined){
let data5 = data.quirks;
const _errs11 = errors;
if(!((data5 === "Groq") || (data5 === "Mistral"))){
validate43.errors = [{instancePath:instancePath+"/quirks",schemaPath:"#/properties/quirks/enum",keyword:"enum",params:{allowedValues: schema36.properties.quirks.enum},message:"must be equal to one of the allowed values"}];
return false;
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.baseURL !== undefined){
let data6 = data.baseURL;
const _errs12 = errors;
if(errors === _errs12){
if(typeof data6 === "string"){
if(data6.length > 2048){
validate43.errors = [{instancePath:instancePath+"/baseURL",schemaPath:"#/properties/baseURL/maxLength",keyword:"maxLength",params:{limit: 2048},message:"must NOT have more than 2048 characters"}];
return false;
}
else {
if(!pattern14.test(data6)){
validate43.errors = [{instancePath:instancePath+"/baseURL",schemaPath:"#/properties/baseURL/pattern",keyword:"pattern",params:{pattern: "^https?://[^/?#@]+[^?#]*$"},message:"must match pattern \""+"^https?://[^/?#@]+[^?#]*$"+"\""}];
return false;
}
}
}
else {
validate43.errors = [{instancePath:instancePath+"/baseURL",schemaPath:"#/properties/baseURL/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid0 = _errs12 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.formats !== undefined){
let data7 = data.formats;
const _errs14 = errors;
if(errors === _errs14){
if(Array.isArray(data7)){
if(data7.length > 32){
validate43.errors = [{instancePath:instancePath+"/formats",schemaPath:"#/properties/formats/maxItems",keyword:"maxItems",params:{limit: 32},message:"must NOT have more than 32 items"}];
return false;
}
else {
if(data7.length < 1){
validate43.errors = [{instancePath:instancePath+"/formats",schemaPath:"#/properties/formats/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items"}];
return false;
}
else {
var valid3 = true;
const len0 = data7.length;
for(let i0=0; i0<len0; i0++){
let data8 = data7[i0];
const _errs16 = errors;
if(errors === _errs16){
if(data8 && typeof data8 == "object" && !Array.isArray(data8)){
let missing1;
if(((data8.type === undefined) && (missing1 = "type")) || ((data8.path === undefined) && (missing1 = "path"))){
validate43.errors = [{instancePath:instancePath+"/formats/" + i0,schemaPath:"#/properties/formats/items/required",keyword:"required",params:{missingProperty: missing1},message:"must have required property '"+missing1+"'"}];
return false;
}
else {
const _errs18 = errors;
for(const key1 in data8){
if(!(((key1 === "type") || (key1 === "path")) || (key1 === "dialect"))){
validate43.errors = [{instancePath:instancePath+"/formats/" + i0,schemaPath:"#/properties/formats/items/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key1},message:"must NOT have additional properties"}];
return false;
break;
}
}
if(_errs18 === errors){
if(data8.type !== undefined){
let data9 = data8.type;
const _errs19 = errors;
if(!(((((((((((((((((((data9 === "ChatCompletions") || (data9 === "Responses")) || (data9 === "Messages")) || (data9 === "GenerateContent")) || (data9 === "Completions")) || (data9 === "Embeddings")) || (data9 === "EmbedContent")) || (data9 === "Rerank")) || (data9 === "ImageGenerations")) || (data9 === "ImageEdits")) || (data9 === "ImageVariations")) || (data9 === "Predict")) || (data9 === "Speech")) || (data9 === "Transcriptions")) || (data9 === "Translations")) || (data9 === "Moderations")) || (data9 === "Realtime")) || (data9 === "CountTokens")) || (data9 === "Passthrough"))){
validate43.errors = [{instancePath:instancePath+"/formats/" + i0+"/type",schemaPath:"#/definitions/wireFormat/enum",keyword:"enum",params:{allowedValues: schema39.enum},message:"must be equal to one of the allowed values"}];
return false;
}
var valid4 = _errs19 === errors;
}
else {
var valid4 = true;
}
if(valid4){
if(data8.path !== undefined){
let data10 = data8.path;
const _errs21 = errors;
if(errors === _errs21){
if(typeof data10 === "string"){
if(data10.length > 1024){
validate43.errors = [{instancePath:instancePath+"/formats/" + i0+"/path",schemaPath:"#/properties/formats/items/properties/path/maxLength",keyword:"maxLength",params:{limit: 1024},message:"must NOT have more than 1024 characters"}];
return false;
}
else {
if(!pattern15.test(data10)){
validate43.errors = [{instancePath:instancePath+"/formats/" + i0+"/path",schemaPath:"#/properties/formats/items/properties/path/pattern",keyword:"pattern",params:{pattern: "^/"},message:"must match pattern \""+"^/"+"\""}];
return false;
}
}
}
else {
validate43.errors = [{instancePath:instancePath+"/formats/" + i0+"/path",schemaPath:"#/properties/formats/items/properties/path/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid4 = _errs21 === errors;
}
else {
var valid4 = true;
}
if(valid4){
if(data8.dialect !== undefined){
let data11 = data8.dialect;
const _errs23 = errors;
if(!(((((data11 === "OpenAI") || (data11 === "Cohere")) || (data11 === "Voyage")) || (data11 === "Jina")) || (data11 === "TEI"))){
validate43.errors = [{instancePath:instancePath+"/formats/" + i0+"/dialect",schemaPath:"#/properties/formats/items/properties/dialect/enum",keyword:"enum",params:{allowedValues: schema36.properties.formats.items.properties.dialect.enum},message:"must be equal to one of the allowed values"}];
return false;
}
var valid4 = _errs23 === errors;
}
else {
var valid4 = true;
}
}
}
}
}
}
else {
validate43.errors = [{instancePath:instancePath+"/formats/" + i0,schemaPath:"#/properties/formats/items/type",keyword:"type",params:{type: "object"},message:"must be object"}];
return false;
}
}
var valid3 = _errs16 === errors;
if(!valid3){
break;
}
}
}
}
}
else {
validate43.errors = [{instancePath:instancePath+"/formats",schemaPath:"#/properties/formats/type",keyword:"type",params:{type: "array"},message:"must be array"}];
return false;
}
}
var valid0 = _errs14 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.auth !== undefined){
let data12 = data.auth;
const _errs24 = errors;
if(errors === _errs24){
if(data12 && typeof data12 == "object" && !Array.isArray(data12)){
let missing2;
if((((data12.location === undefined) && (missing2 = "location")) || ((data12.name === undefined) && (missing2 = "name"))) || ((data12.scheme === undefined) && (missing2 = "scheme"))){
validate43.errors = [{instancePath:instancePath+"/auth",schemaPath:"#/properties/auth/required",keyword:"required",params:{missingProperty: missing2},message:"must have required property '"+missing2+"'"}];
return false;
}
else {
const _errs26 = errors;
for(const key2 in data12){
if(!(((key2 === "location") || (key2 === "name")) || (key2 === "scheme"))){
validate43.errors = [{instancePath:instancePath+"/auth",schemaPath:"#/properties/auth/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key2},message:"must NOT have additional properties"}];
return false;
break;
}
}
if(_errs26 === errors){
if(data12.location !== undefined){
let data13 = data12.location;
const _errs27 = errors;
if(!((data13 === "Header") || (data13 === "Query"))){
validate43.errors = [{instancePath:instancePath+"/auth/location",schemaPath:"#/properties/auth/properties/location/enum",keyword:"enum",params:{allowedValues: schema36.properties.auth.properties.location.enum},message:"must be equal to one of the allowed values"}];
return false;
}
var valid6 = _errs27 === errors;
}
else {
var valid6 = true;
}
if(valid6){
if(data12.name !== undefined){
let data14 = data12.name;
const _errs28 = errors;
if(errors === _errs28){
if(typeof data14 === "string"){
if(data14.length > 128){
validate43.errors = [{instancePath:instancePath+"/auth/name",schemaPath:"#/properties/auth/properties/name/maxLength",keyword:"maxLength",params:{limit: 128},message:"must NOT have more than 128 characters"}];
return false;
}
else {
if(data14.length < 1){
validate43.errors = [{instancePath:instancePath+"/auth/name",schemaPath:"#/properties/auth/properties/name/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
}
}
else {
validate43.errors = [{instancePath:instancePath+"/auth/name",schemaPath:"#/properties/auth/properties/name/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid6 = _errs28 === errors;
}
else {
var valid6 = true;
}
if(valid6){
if(data12.scheme !== undefined){
let data15 = data12.scheme;
const _errs30 = errors;
if(!((data15 === "Bearer") || (data15 === "Raw"))){
validate43.errors = [{instancePath:instancePath+"/auth/scheme",schemaPath:"#/properties/auth/properties/scheme/enum",keyword:"enum",params:{allowedValues: schema36.properties.auth.properties.scheme.enum},message:"must be equal to one of the allowed values"}];
return false;
}
var valid6 = _errs30 === errors;
}
else {
var valid6 = true;
}
}
}
}
}
}
else {
validate43.errors = [{instancePath:instancePath+"/auth",schemaPath:"#/properties/auth/type",keyword:"type",params:{type: "object"},message:"must be object"}];
return false;
}
}
var valid0 = _errs24 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.credentials !== undefined){
let data16 = data.credentials;
const _errs31 = errors;
if(errors === _errs31){
if(Array.isArray(data16)){
if(data16.length > 32){
validate43.errors = [{instancePath:instancePath+"/credentials",schemaPath:"#/properties/credentials/maxItems",keyword:"maxItems",params:{limit: 32},message:"must NOT have more than 32 items"}];
return false;
}
else {
var valid7 = true;
const len1 = data16.length;
for(let i1=0; i1<len1; i1++){
let data17 = data16[i1];
const _errs33 = errors;
if(errors === _errs33){
if(data17 && typeof data17 == "object" && !Array.isArray(data17)){
let missing3;
if((((data17.name === undefined) && (missing3 = "name")) || ((data17.weight === undefined) && (missing3 = "weight"))) || ((data17.state === undefined) && (missing3 = "state"))){
validate43.errors = [{instancePath:instancePath+"/credentials/" + i1,schemaPath:"#/properties/credentials/items/required",keyword:"required",params:{missingProperty: missing3},message:"must have required property '"+missing3+"'"}];
return false;
}
else {
const _errs35 = errors;
for(const key3 in data17){
if(!(((key3 === "name") || (key3 === "weight")) || (key3 === "state"))){
validate43.errors = [{instancePath:instancePath+"/credentials/" + i1,schemaPath:"#/properties/credentials/items/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key3},message:"must NOT have additional properties"}];
return false;
break;
}
}
if(_errs35 === errors){
if(data17.name !== undefined){
let data18 = data17.name;
const _errs36 = errors;
const _errs37 = errors;
if(errors === _errs37){
if(typeof data18 === "string"){
if(data18.length > 253){
validate43.errors = [{instancePath:instancePath+"/credentials/" + i1+"/name",schemaPath:"#/definitions/name/maxLength",keyword:"maxLength",params:{limit: 253},message:"must NOT have more than 253 characters"}];
return false;
}
else {
if(data18.length < 1){
validate43.errors = [{instancePath:instancePath+"/credentials/" + i1+"/name",schemaPath:"#/definitions/name/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
else {
if(!pattern0.test(data18)){
validate43.errors = [{instancePath:instancePath+"/credentials/" + i1+"/name",schemaPath:"#/definitions/name/pattern",keyword:"pattern",params:{pattern: "^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$"},message:"must match pattern \""+"^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$"+"\""}];
return false;
}
}
}
}
else {
validate43.errors = [{instancePath:instancePath+"/credentials/" + i1+"/name",schemaPath:"#/definitions/name/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid8 = _errs36 === errors;
}
else {
var valid8 = true;
}
if(valid8){
if(data17.weight !== undefined){
let data19 = data17.weight;
const _errs39 = errors;
if(!((typeof data19 == "number") && (!(data19 % 1) && !isNaN(data19)))){
validate43.errors = [{instancePath:instancePath+"/credentials/" + i1+"/weight",schemaPath:"#/properties/credentials/items/properties/weight/type",keyword:"type",params:{type: "integer"},message:"must be integer"}];
return false;
}
if(errors === _errs39){
if(typeof data19 == "number"){
if(data19 > 1000000 || isNaN(data19)){
validate43.errors = [{instancePath:instancePath+"/credentials/" + i1+"/weight",schemaPath:"#/properties/credentials/items/properties/weight/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000000},message:"must be <= 1000000"}];
return false;
}
else {
if(data19 < 0 || isNaN(data19)){
validate43.errors = [{instancePath:instancePath+"/credentials/" + i1+"/weight",schemaPath:"#/properties/credentials/items/properties/weight/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"}];
return false;
}
}
}
}
var valid8 = _errs39 === errors;
}
else {
var valid8 = true;
}
if(valid8){
if(data17.state !== undefined){
let data20 = data17.state;
const _errs41 = errors;
if(!(((data20 === "Active") || (data20 === "Draining")) || (data20 === "Disabled"))){
validate43.errors = [{instancePath:instancePath+"/credentials/" + i1+"/state",schemaPath:"#/properties/credentials/items/properties/state/enum",keyword:"enum",params:{allowedValues: schema36.properties.credentials.items.properties.state.enum},message:"must be equal to one of the allowed values"}];
return false;
}
var valid8 = _errs41 === errors;
}
else {
var valid8 = true;
}
}
}
}
}
}
else {
validate43.errors = [{instancePath:instancePath+"/credentials/" + i1,schemaPath:"#/properties/credentials/items/type",keyword:"type",params:{type: "object"},message:"must be object"}];
return false;
}
}
var valid7 = _errs33 === errors;
if(!valid7){
break;
}
}
}
}
else {
validate43.errors = [{instancePath:instancePath+"/credentials",schemaPath:"#/properties/credentials/type",keyword:"type",params:{type: "array"},message:"must be array"}];
return false;
}
}
var valid0 = _errs31 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.models !== undefined){
let data21 = data.models;
const _errs42 = errors;
if(errors === _errs42){
if(Array.isArray(data21)){
if(data21.length > 512){
validate43.errors = [{instancePath:instancePath+"/models",schemaPath:"#/properties/models/maxItems",keyword:"maxItems",params:{limit: 512},message:"must NOT have more than 512 items"}];
return false;
}
else {
var valid10 = true;
const len2 = data21.length;
for(let i2=0; i2<len2; i2++){
let data22 = data21[i2];
const _errs44 = errors;
if(errors === _errs44){
if(data22 && typeof data22 == "object" && !Array.isArray(data22)){
let missing4;
if((data22.name === undefined) && (missing4 = "name")){
validate43.errors = [{instancePath:instancePath+"/models/" + i2,schemaPath:"#/properties/models/items/required",keyword:"required",params:{missingProperty: missing4},message:"must have required property '"+missing4+"'"}];
return false;
}
else {
const _errs46 = errors;
for(const key4 in data22){
if(!((((key4 === "name") || (key4 === "upstreamName")) || (key4 === "capabilities")) || (key4 === "traits"))){
validate43.errors = [{instancePath:instancePath+"/models/" + i2,schemaPath:"#/properties/models/items/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key4},message:"must NOT have additional properties"}];
return false;
break;
}
}
if(_errs46 === errors){
if(data22.name !== undefined){
let data23 = data22.name;
const _errs47 = errors;
if(errors === _errs47){
if(typeof data23 === "string"){
if(data23.length > 256){
validate43.errors = [{instancePath:instancePath+"/models/" + i2+"/name",schemaPath:"#/properties/models/items/properties/name/maxLength",keyword:"maxLength",params:{limit: 256},message:"must NOT have more than 256 characters"}];
return false;
}
else {
if(data23.length < 1){
validate43.errors = [{instancePath:instancePath+"/models/" + i2+"/name",schemaPath:"#/properties/models/items/properties/name/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
}
}
else {
validate43.errors = [{instancePath:instancePath+"/models/" + i2+"/name",schemaPath:"#/properties/models/items/properties/name/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid11 = _errs47 === errors;
}
else {
var valid11 = true;
}
if(valid11){
if(data22.upstreamName !== undefined){
let data24 = data22.upstreamName;
const _errs49 = errors;
if(errors === _errs49){
if(typeof data24 === "string"){
if(data24.length > 256){
validate43.errors = [{instancePath:instancePath+"/models/" + i2+"/upstreamName",schemaPath:"#/properties/models/items/properties/upstreamName/maxLength",keyword:"maxLength",params:{limit: 256},message:"must NOT have more than 256 characters"}];
return false;
}
else {
if(data24.length < 1){
validate43.errors = [{instancePath:instancePath+"/models/" + i2+"/upstreamName",schemaPath:"#/properties/models/items/properties/upstreamName/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
}
}
else {
validate43.errors = [{instancePath:instancePath+"/models/" + i2+"/upstreamName",schemaPath:"#/properties/models/items/properties/upstreamName/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid11 = _errs49 === errors;
}
else {
var valid11 = true;
}
if(valid11){
if(data22.capabilities !== undefined){
let data25 = data22.capabilities;
const _errs51 = errors;
if(errors === _errs51){
if(Array.isArray(data25)){
if(data25.length > 16){
validate43.errors = [{instancePath:instancePath+"/models/" + i2+"/capabilities",schemaPath:"#/properties/models/items/properties/capabilities/maxItems",keyword:"maxItems",params:{limit: 16},message:"must NOT have more than 16 items"}];
return false;
}
else {
var valid12 = true;
const len3 = data25.length;
for(let i3=0; i3<len3; i3++){
let data26 = data25[i3];
const _errs53 = errors;
if(!((((((((((((((data26 === "Chat") || (data26 === "Completion")) || (data26 === "CountTokens")) || (data26 === "Embeddings")) || (data26 === "Rerank")) || (data26 === "Speech")) || (data26 === "Transcription")) || (data26 === "Translation")) || (data26 === "ImageGeneration")) || (data26 === "ImageEdit")) || (data26 === "Moderation")) || (data26 === "Realtime")) || (data26 === "Models")) || (data26 === "Passthrough"))){
validate43.errors = [{instancePath:instancePath+"/models/" + i2+"/capabilities/" + i3,schemaPath:"#/definitions/capability/enum",keyword:"enum",params:{allowedValues: schema24.enum},message:"must be equal to one of the allowed values"}];
return false;
}
var valid12 = _errs53 === errors;
if(!valid12){
break;
}
}
}
}
else {
validate43.errors = [{instancePath:instancePath+"/models/" + i2+"/capabilities",schemaPath:"#/properties/models/items/properties/capabilities/type",keyword:"type",params:{type: "array"},message:"must be array"}];
return false;
}
}
var valid11 = _errs51 === errors;
}
else {
var valid11 = true;
}
if(valid11){
if(data22.traits !== undefined){
let data27 = data22.traits;
const _errs55 = errors;
if(errors === _errs55){
if(data27 && typeof data27 == "object" && !Array.isArray(data27)){
const _errs57 = errors;
for(const key5 in data27){
if(!(((((((key5 === "like") || (key5 === "maxOutputTokens")) || (key5 === "thinking")) || (key5 === "forcedTools")) || (key5 === "toolsWithThinking")) || (key5 === "hostedToolsWithFunctions")) || (key5 === "sampling"))){
validate43.errors = [{instancePath:instancePath+"/models/" + i2+"/traits",schemaPath:"#/properties/models/items/properties/traits/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key5},message:"must NOT have additional properties"}];
return false;
break;
}
}
if(_errs57 === errors){
if(data27.like !== undefined){
let data28 = data27.like;
const _errs58 = errors;
if(errors === _errs58){
if(typeof data28 === "string"){
if(data28.length > 256){
validate43.errors = [{instancePath:instancePath+"/models/" + i2+"/traits/like",schemaPath:"#/properties/models/items/properties/traits/properties/like/maxLength",keyword:"maxLength",params:{limit: 256},message:"must NOT have more than 256 characters"}];
return false;
}
else {
if(data28.length < 1){
validate43.errors = [{instancePath:instancePath+"/models/" + i2+"/traits/like",schemaPath:"#/properties/models/items/properties/traits/properties/like/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
}
}
else {
validate43.errors = [{instancePath:instancePath+"/models/" + i2+"/traits/like",schemaPath:"#/properties/models/items/properties/traits/properties/like/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid14 = _errs58 === errors;
}
else {
var valid14 = true;
}
if(valid14){
if(data27.maxOutputTokens !== undefined){
let data29 = data27.maxOutputTokens;
const _errs60 = errors;
if(!((typeof data29 == "number") && (!(data29 % 1) && !isNaN(data29)))){
validate43.errors = [{instancePath:instancePath+"/models/" + i2+"/traits/maxOutputTokens",schemaPath:"#/properties/models/items/properties/traits/properties/maxOutputTokens/type",keyword:"type",params:{type: "integer"},message:"must be integer"}];
return false;
}
if(errors === _errs60){
if(typeof data29 == "number"){
if(data29 > 2147483647 || isNaN(data29)){
validate43.errors = [{instancePath:instancePath+"/models/" + i2+"/traits/maxOutputTokens",schemaPath:"#/properties/models/items/properties/traits/properties/maxOutputTokens/maximum",keyword:"maximum",params:{comparison: "<=", limit: 2147483647},message:"must be <= 2147483647"}];
return false;
}
else {
if(data29 < 1 || isNaN(data29)){
validate43.errors = [{instancePath:instancePath+"/models/" + i2+"/traits/maxOutputTokens",schemaPath:"#/properties/models/items/properties/traits/properties/maxOutputTokens/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1"}];
return false;
}
}
}
}
var valid14 = _errs60 === errors;
}
else {
var valid14 = true;
}
if(valid14){
if(data27.thinking !== undefined){
let data30 = data27.thinking;
const _errs62 = errors;
if(!(((data30 === "None") || (data30 === "Optional")) || (data30 === "Always"))){
validate43.errors = [{instancePath:instancePath+"/models/" + i2+"/traits/thinking",schemaPath:"#/properties/models/items/properties/traits/properties/thinking/enum",keyword:"enum",params:{allowedValues: schema36.properties.models.items.properties.traits.properties.thinking.enum},message:"must be equal to one of the allowed values"}];
return false;
}
var valid14 = _errs62 === errors;
}
else {
var valid14 = true;
}
if(valid14){
if(data27.forcedTools !== undefined){
let data31 = data27.forcedTools;
const _errs63 = errors;
if(!((data31 === "Accepted") || (data31 === "Refused"))){
validate43.errors = [{instancePath:instancePath+"/models/" + i2+"/traits/forcedTools",schemaPath:"#/properties/models/items/properties/traits/properties/forcedTools/enum",keyword:"enum",params:{allowedValues: schema36.properties.models.items.properties.traits.properties.forcedTools.enum},message:"must be equal to one of the allowed values"}];
return false;
}
var valid14 = _errs63 === errors;
}
else {
var valid14 = true;
}
if(valid14){
if(data27.toolsWithThinking !== undefined){
let data32 = data27.toolsWithThinking;
const _errs64 = errors;
if(!((data32 === "Accepted") || (data32 === "Refused"))){
validate43.errors = [{instancePath:instancePath+"/models/" + i2+"/traits/toolsWithThinking",schemaPath:"#/properties/models/items/properties/traits/properties/toolsWithThinking/enum",keyword:"enum",params:{allowedValues: schema36.properties.models.items.properties.traits.properties.toolsWithThinking.enum},message:"must be equal to one of the allowed values"}];
return false;
}
var valid14 = _errs64 === errors;
}
else {
var valid14 = true;
}
if(valid14){
if(data27.hostedToolsWithFunctions !== undefined){
let data33 = data27.hostedToolsWithFunctions;
const _errs65 = errors;
if(!((data33 === "Accepted") || (data33 === "Refused"))){
validate43.errors = [{instancePath:instancePath+"/models/" + i2+"/traits/hostedToolsWithFunctions",schemaPath:"#/properties/models/items/properties/traits/properties/hostedToolsWithFunctions/enum",keyword:"enum",params:{allowedValues: schema36.properties.models.items.properties.traits.properties.hostedToolsWithFunctions.enum},message:"must be equal to one of the allowed values"}];
return false;
}
var valid14 = _errs65 === errors;
}
else {
var valid14 = true;
}
if(valid14){
if(data27.sampling !== undefined){
let data34 = data27.sampling;
const _errs66 = errors;
if(!((data34 === "Accepted") || (data34 === "Refused"))){
validate43.errors = [{instancePath:instancePath+"/models/" + i2+"/traits/sampling",schemaPath:"#/properties/models/items/properties/traits/properties/sampling/enum",keyword:"enum",params:{allowedValues: schema36.properties.models.items.properties.traits.properties.sampling.enum},message:"must be equal to one of the allowed values"}];
return false;
}
var valid14 = _errs66 === errors;
}
else {
var valid14 = true;
}
}
}
}
}
}
}
}
}
else {
validate43.errors = [{instancePath:instancePath+"/models/" + i2+"/traits",schemaPath:"#/properties/models/items/properties/traits/type",keyword:"type",params:{type: "object"},message:"must be object"}];
return false;
}
}
var valid11 = _errs55 === errors;
}
else {
var valid11 = true;
}
}
}
}
}
}
}
else {
validate43.errors = [{instancePath:instancePath+"/models/" + i2,schemaPath:"#/properties/models/items/type",keyword:"type",params:{type: "object"},message:"must be object"}];
return false;
}
}
var valid10 = _errs44 === errors;
if(!valid10){
break;
}
}
}
}
else {
validate43.errors = [{instancePath:instancePath+"/models",schemaPath:"#/properties/models/type",keyword:"type",params:{type: "array"},message:"must be array"}];
return false;
}
}
var valid0 = _errs42 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.headersSet !== undefined){
let data35 = data.headersSet;
const _errs67 = errors;
if(errors === _errs67){
if(Array.isArray(data35)){
if(data35.length > 16){
validate43.errors = [{instancePath:instancePath+"/headersSet",schemaPath:"#/properties/headersSet/maxItems",keyword:"maxItems",params:{limit: 16},message:"must NOT have more than 16 items"}];
return false;
}
else {
var valid15 = true;
const len4 = data35.length;
for(let i4=0; i4<len4; i4++){
let data36 = data35[i4];
const _errs69 = errors;
if(errors === _errs69){
if(data36 && typeof data36 == "object" && !Array.isArray(data36)){
let missing5;
if(((data36.name === undefined) && (missing5 = "name")) || ((data36.value === undefined) && (missing5 = "value"))){
validate43.errors = [{instancePath:instancePath+"/headersSet/" + i4,schemaPath:"#/properties/headersSet/items/required",keyword:"required",params:{missingProperty: missing5},message:"must have required property '"+missing5+"'"}];
return false;
}
else {
const _errs71 = errors;
for(const key6 in data36){
if(!((key6 === "name") || (key6 === "value"))){
validate43.errors = [{instancePath:instancePath+"/headersSet/" + i4,schemaPath:"#/properties/headersSet/items/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key6},message:"must NOT have additional properties"}];
return false;
break;
}
}
if(_errs71 === errors){
if(data36.name !== undefined){
let data37 = data36.name;
const _errs72 = errors;
if(errors === _errs72){
if(typeof data37 === "string"){
if(data37.length > 128){
validate43.errors = [{instancePath:instancePath+"/headersSet/" + i4+"/name",schemaPath:"#/properties/headersSet/items/properties/name/maxLength",keyword:"maxLength",params:{limit: 128},message:"must NOT have more than 128 characters"}];
return false;
}
else {
if(!pattern17.test(data37)){
validate43.errors = [{instancePath:instancePath+"/headersSet/" + i4+"/name",schemaPath:"#/properties/headersSet/items/properties/name/pattern",keyword:"pattern",params:{pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$"},message:"must match pattern \""+"^[!#$%&'*+.^_`|~0-9A-Za-z-]+$"+"\""}];
return false;
}
}
}
else {
validate43.errors = [{instancePath:instancePath+"/headersSet/" + i4+"/name",schemaPath:"#/properties/headersSet/items/properties/name/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid16 = _errs72 === errors;
}
else {
var valid16 = true;
}
if(valid16){
if(data36.value !== undefined){
let data38 = data36.value;
const _errs74 = errors;
if(errors === _errs74){
if(typeof data38 === "string"){
if(data38.length > 4096){
validate43.errors = [{instancePath:instancePath+"/headersSet/" + i4+"/value",schemaPath:"#/properties/headersSet/items/properties/value/maxLength",keyword:"maxLength",params:{limit: 4096},message:"must NOT have more than 4096 characters"}];
return false;
}
else {
if(!pattern18.test(data38)){
validate43.errors = [{instancePath:instancePath+"/headersSet/" + i4+"/value",schemaPath:"#/properties/headersSet/items/properties/value/pattern",keyword:"pattern",params:{pattern: "^[\\t\\x20-\\x7e]*$"},message:"must match pattern \""+"^[\\t\\x20-\\x7e]*$"+"\""}];
return false;
}
}
}
else {
validate43.errors = [{instancePath:instancePath+"/headersSet/" + i4+"/value",schemaPath:"#/properties/headersSet/items/properties/value/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid16 = _errs74 === errors;
}
else {
var valid16 = true;
}
}
}
}
}
else {
validate43.errors = [{instancePath:instancePath+"/headersSet/" + i4,schemaPath:"#/properties/headersSet/items/type",keyword:"type",params:{type: "object"},message:"must be object"}];
return false;
}
}
var valid15 = _errs69 === errors;
if(!valid15){
break;
}
}
}
}
else {
validate43.errors = [{instancePath:instancePath+"/headersSet",schemaPath:"#/properties/headersSet/type",keyword:"type",params:{type: "array"},message:"must be array"}];
return false;
}
}
var valid0 = _errs67 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.headersRemove !== undefined){
let data39 = data.headersRemove;
const _errs76 = errors;
if(errors === _errs76){
if(Array.isArray(data39)){
if(data39.length > 16){
validate43.errors = [{instancePath:instancePath+"/headersRemove",schemaPath:"#/properties/headersRemove/maxItems",keyword:"maxItems",params:{limit: 16},message:"must NOT have more than 16 items"}];
return false;
}
else {
var valid17 = true;
const len5 = data39.length;
for(let i5=0; i5<len5; i5++){
let data40 = data39[i5];
const _errs78 = errors;
if(errors === _errs78){
if(typeof data40 === "string"){
if(data40.length > 128){
validate43.errors = [{instancePath:instancePath+"/headersRemove/" + i5,schemaPath:"#/properties/headersRemove/items/maxLength",keyword:"maxLength",params:{limit: 128},message:"must NOT have more than 128 characters"}];
return false;
}
}
else {
validate43.errors = [{instancePath:instancePath+"/headersRemove/" + i5,schemaPath:"#/properties/headersRemove/items/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid17 = _errs78 === errors;
if(!valid17){
break;
}
}
}
}
else {
validate43.errors = [{instancePath:instancePath+"/headersRemove",schemaPath:"#/properties/headersRemove/type",keyword:"type",params:{type: "array"},message:"must be array"}];
return false;
}
}
var valid0 = _errs76 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.body !== undefined){
const _errs80 = errors;
if(!(validate24(data.body, {instancePath:instancePath+"/body",parentData:data,parentDataProperty:"body",rootData}))){
vErrors = vErrors === null ? validate24.errors : vErrors.concat(validate24.errors);
errors = vErrors.length;
}
var valid0 = _errs80 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.privacy !== undefined){
let data42 = data.privacy;
const _errs81 = errors;
if(errors === _errs81){
if(data42 && typeof data42 == "object" && !Array.isArray(data42)){
let missing6;
if(((((data42.store === undefined) && (missing6 = "store")) || ((data42.safetyIdentifier === undefined) && (missing6 = "safetyIdentifier"))) || ((data42.streamObfuscation === undefined) && (missing6 = "streamObfuscation"))) || ((data42.clientMetadata === undefined) && (missing6 = "clientMetadata"))){
validate43.errors = [{instancePath:instancePath+"/privacy",schemaPath:"#/properties/privacy/required",keyword:"required",params:{missingProperty: missing6},message:"must have required property '"+missing6+"'"}];
return false;
}
else {
const _errs83 = errors;
for(const key7 in data42){
if(!((((key7 === "store") || (key7 === "safetyIdentifier")) || (key7 === "streamObfuscation")) || (key7 === "clientMetadata"))){
validate43.errors = [{instancePath:instancePath+"/privacy",schemaPath:"#/properties/privacy/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key7},message:"must NOT have additional properties"}];
return false;
break;
}
}
if(_errs83 === errors){
if(data42.store !== undefined){
let data43 = data42.store;
const _errs84 = errors;
if(!((data43 === "PassThrough") || (data43 === "ForceFalse"))){
validate43.errors = [{instancePath:instancePath+"/privacy/store",schemaPath:"#/properties/privacy/properties/store/enum",keyword:"enum",params:{allowedValues: schema36.properties.privacy.properties.store.enum},message:"must be equal to one of the allowed values"}];
return false;
}
var valid18 = _errs84 === errors;
}
else {
var valid18 = true;
}
if(valid18){
if(data42.safetyIdentifier !== undefined){
let data44 = data42.safetyIdentifier;
const _errs85 = errors;
if(!((data44 === "Strip") || (data44 === "Forward"))){
validate43.errors = [{instancePath:instancePath+"/privacy/safetyIdentifier",schemaPath:"#/properties/privacy/properties/safetyIdentifier/enum",keyword:"enum",params:{allowedValues: schema36.properties.privacy.properties.safetyIdentifier.enum},message:"must be equal to one of the allowed values"}];
return false;
}
var valid18 = _errs85 === errors;
}
else {
var valid18 = true;
}
if(valid18){
if(data42.streamObfuscation !== undefined){
let data45 = data42.streamObfuscation;
const _errs86 = errors;
if(!((data45 === "Strip") || (data45 === "Forward"))){
validate43.errors = [{instancePath:instancePath+"/privacy/streamObfuscation",schemaPath:"#/properties/privacy/properties/streamObfuscation/enum",keyword:"enum",params:{allowedValues: schema36.properties.privacy.properties.streamObfuscation.enum},message:"must be equal to one of the allowed values"}];
return false;
}
var valid18 = _errs86 === errors;
}
else {
var valid18 = true;
}
if(valid18){
if(data42.clientMetadata !== undefined){
let data46 = data42.clientMetadata;
const _errs87 = errors;
if(!((data46 === "Forward") || (data46 === "Strip"))){
validate43.errors = [{instancePath:instancePath+"/privacy/clientMetadata",schemaPath:"#/properties/privacy/properties/clientMetadata/enum",keyword:"enum",params:{allowedValues: schema36.properties.privacy.properties.clientMetadata.enum},message:"must be equal to one of the allowed values"}];
return false;
}
var valid18 = _errs87 === errors;
}
else {
var valid18 = true;
}
}
}
}
}
}
}
else {
validate43.errors = [{instancePath:instancePath+"/privacy",schemaPath:"#/properties/privacy/type",keyword:"type",params:{type: "object"},message:"must be object"}];
return false;
}
}
var valid0 = _errs81 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.unsupportedParameters !== undefined){
let data47 = data.unsupportedParameters;
const _errs88 = errors;
if(!((data47 === "Ignore") || (data47 === "Reject"))){
validate43.errors = [{instancePath:instancePath+"/unsupportedParameters",schemaPath:"#/properties/unsupportedParameters/enum",keyword:"enum",params:{allowedValues: schema36.properties.unsupportedParameters.enum},message:"must be equal to one of the allowed values"}];
return false;
}
var valid0 = _errs88 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.upstreamObjects !== undefined){
let data48 = data.upstreamObjects;
const _errs89 = errors;
if(!((data48 === "Refuse") || (data48 === "Shared"))){
validate43.errors = [{instancePath:instancePath+"/upstreamObjects",schemaPath:"#/properties/upstreamObjects/enum",keyword:"enum",params:{allowedValues: schema36.properties.upstreamObjects.enum},message:"must be equal to one of the allowed values"}];
return false;
}
var valid0 = _errs89 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.timeouts !== undefined){
const _errs90 = errors;
if(!(validate26(data.timeouts, {instancePath:instancePath+"/timeouts",parentData:data,parentDataProperty:"timeouts",rootData}))){
vErrors = vErrors === null ? validate26.errors : vErrors.concat(validate26.errors);
errors = vErrors.length;
}
var valid0 = _errs90 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.limits !== undefined){
const _errs91 = errors;
if(!(validate14(data.limits, {instancePath:instancePath+"/limits",parentData:data,parentDataProperty:"limits",rootData}))){
vErrors = vErrors === null ? validate14.errors : vErrors.concat(validate14.errors);
errors = vErrors.length;
}
var valid0 = _errs91 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.maxInFlight !== undefined){
let data51 = data.maxInFlight;
const _errs92 = errors;
if(!((typeof data51 == "number") && (!(data51 % 1) && !isNaN(data51)))){
validate43.errors = [{instancePath:instancePath+"/maxInFlight",schemaPath:"#/properties/maxInFlight/type",keyword:"type",params:{type: "integer"},message:"must be integer"}];
return false;
}
if(errors === _errs92){
if(typeof data51 == "number"){
if(data51 > 1000000 || isNaN(data51)){
validate43.errors = [{instancePath:instancePath+"/maxInFlight",schemaPath:"#/properties/maxInFlight/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000000},message:"must be <= 1000000"}];
return false;
}
else {
if(data51 < 1 || isNaN(data51)){
validate43.errors = [{instancePath:instancePath+"/maxInFlight",schemaPath:"#/properties/maxInFlight/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1"}];
return false;
}
}
}
}
var valid0 = _errs92 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.tls !== undefined){
let data52 = data.tls;
const _errs94 = errors;
if(errors === _errs94){
if(data52 && typeof data52 == "object" && !Array.isArray(data52)){
const _errs96 = errors;
for(const key8 in data52){
if(!((((key8 === "ca") || (key8 === "serverName")) || (key8 === "certificate")) || (key8 === "privateKey"))){
validate43.errors = [{instancePath:instancePath+"/tls",schemaPath:"#/properties/tls/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key8},message:"must NOT have additional properties"}];
return false;
break;
}
}
if(_errs96 === errors){
if(data52.ca !== undefined){
let data53 = data52.ca;
const _errs97 = errors;
if(errors === _errs97){
if(typeof data53 === "string"){
if(data53.length > 1048576){
validate43.errors = [{instancePath:instancePath+"/tls/ca",schemaPath:"#/properties/tls/properties/ca/maxLength",keyword:"maxLength",params:{limit: 1048576},message:"must NOT have more than 1048576 characters"}];
return false;
}
}
else {
validate43.errors = [{instancePath:instancePath+"/tls/ca",schemaPath:"#/properties/tls/properties/ca/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid19 = _errs97 === errors;
}
else {
var valid19 = true;
}
if(valid19){
if(data52.serverName !== undefined){
let data54 = data52.serverName;
const _errs99 = errors;
if(errors === _errs99){
if(typeof data54 === "string"){
if(data54.length > 253){
validate43.errors = [{instancePath:instancePath+"/tls/serverName",schemaPath:"#/properties/tls/properties/serverName/maxLength",keyword:"maxLength",params:{limit: 253},message:"must NOT have more than 253 characters"}];
return false;
}
}
else {
validate43.errors = [{instancePath:instancePath+"/tls/serverName",schemaPath:"#/properties/tls/properties/serverName/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid19 = _errs99 === errors;
}
else {
var valid19 = true;
}
if(valid19){
if(data52.certificate !== undefined){
let data55 = data52.certificate;
const _errs101 = errors;
if(errors === _errs101){
if(typeof data55 === "string"){
if(data55.length > 65536){
validate43.errors = [{instancePath:instancePath+"/tls/certificate",schemaPath:"#/properties/tls/properties/certificate/maxLength",keyword:"maxLength",params:{limit: 65536},message:"must NOT have more than 65536 characters"}];
return false;
}
}
else {
validate43.errors = [{instancePath:instancePath+"/tls/certificate",schemaPath:"#/properties/tls/properties/certificate/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid19 = _errs101 === errors;
}
else {
var valid19 = true;
}
if(valid19){
if(data52.privateKey !== undefined){
let data56 = data52.privateKey;
const _errs103 = errors;
if(errors === _errs103){
if(typeof data56 === "string"){
if(data56.length > 65536){
validate43.errors = [{instancePath:instancePath+"/tls/privateKey",schemaPath:"#/properties/tls/properties/privateKey/maxLength",keyword:"maxLength",params:{limit: 65536},message:"must NOT have more than 65536 characters"}];
return false;
}
}
else {
validate43.errors = [{instancePath:instancePath+"/tls/privateKey",schemaPath:"#/properties/tls/properties/privateKey/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid19 = _errs103 === errors;
}
else {
var valid19 = true;
}
}
}
}
}
}
else {
validate43.errors = [{instancePath:instancePath+"/tls",schemaPath:"#/properties/tls/type",keyword:"type",params:{type: "object"},message:"must be object"}];
return false;
}
}
var valid0 = _errs94 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.proxyURL !== undefined){
let data57 = data.proxyURL;
const _errs105 = errors;
if(errors === _errs105){
if(typeof data57 === "string"){
if(data57.length > 2048){
validate43.errors = [{instancePath:instancePath+"/proxyURL",schemaPath:"#/properties/proxyURL/maxLength",keyword:"maxLength",params:{limit: 2048},message:"must NOT have more than 2048 characters"}];
return false;
}
else {
if(!pattern19.test(data57)){
validate43.errors = [{instancePath:instancePath+"/proxyURL",schemaPath:"#/properties/proxyURL/pattern",keyword:"pattern",params:{pattern: "^https?://"},message:"must match pattern \""+"^https?://"+"\""}];
return false;
}
}
}
else {
validate43.errors = [{instancePath:instancePath+"/proxyURL",schemaPath:"#/properties/proxyURL/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid0 = _errs105 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
else {
validate43.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"}];
return false;
}
}
validate43.errors = vErrors;
return errors === 0;
}

export const credential = validate47;
const schema50 = {"type":"object","additionalProperties":false,"required":["kind","namespace","channel","name","secret"],"description":"The secret of one credential of a channel: apart from the channel, so that rotating it does not resend the channel.","properties":{"kind":{"const":"credential"},"namespace":{"$ref":"#/definitions/name"},"channel":{"$ref":"#/definitions/name"},"name":{"$ref":"#/definitions/name"},"secret":{"type":"string","minLength":1,"maxLength":8192,"pattern":"^[\\x21-\\x7e]+$"}}};
const pattern23 = new RegExp("^[\\x21-\\x7e]+$", "u");

function validate47(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((((data.kind === undefined) && (missing0 = "kind")) || ((data.namespace === undefined) && (missing0 = "namespace"))) || ((data.channel === undefined) && (missing0 = "channel"))) || ((data.name === undefined) && (missing0 = "name"))) || ((data.secret === undefined) && (missing0 = "secret"))){
validate47.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'"}];
return false;
}
else {
const _errs1 = errors;
for(const key0 in data){
if(!(((((key0 === "kind") || (key0 === "namespace")) || (key0 === "channel")) || (key0 === "name")) || (key0 === "secret"))){
validate47.errors = [{instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties"}];
return false;
break;
}
}
if(_errs1 === errors){
if(data.kind !== undefined){
const _errs2 = errors;
if("credential" !== data.kind){
validate47.errors = [{instancePath:instancePath+"/kind",schemaPath:"#/properties/kind/const",keyword:"const",params:{allowedValue: "credential"},message:"must be equal to constant"}];
return false;
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.namespace !== undefined){
let data1 = data.namespace;
const _errs3 = errors;
const _errs4 = errors;
if(errors === _errs4){
if(typeof data1 === "string"){
if(data1.length > 253){
validate47.errors = [{instancePath:instancePath+"/namespace",schemaPath:"#/definitions/name/maxLength",keyword:"maxLength",params:{limit: 253},message:"must NOT have more than 253 characters"}];
return false;
}
else {
if(data1.length < 1){
validate47.errors = [{instancePath:instancePath+"/namespace",schemaPath:"#/definitions/name/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
else {
if(!pattern0.test(data1)){
validate47.errors = [{instancePath:instancePath+"/namespace",schemaPath:"#/definitions/name/pattern",keyword:"pattern",params:{pattern: "^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$"},message:"must match pattern \""+"^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$"+"\""}];
return false;
}
}
}
}
else {
validate47.errors = [{instancePath:instancePath+"/namespace",schemaPath:"#/definitions/name/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.channel !== undefined){
let data2 = data.channel;
const _errs6 = errors;
const _errs7 = errors;
if(errors === _errs7){
if(typeof data2 === "string"){
if(data2.length > 253){
validate47.errors = [{instancePath:instancePath+"/channel",schemaPath:"#/definitions/name/maxLength",keyword:"maxLength",params:{limit: 253},message:"must NOT have more than 253 characters"}];
return false;
}
else {
if(data2.length < 1){
validate47.errors = [{instancePath:instancePath+"/channel",schemaPath:"#/definitions/name/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
else {
if(!pattern0.test(data2)){
validate47.errors = [{instancePath:instancePath+"/channel",schemaPath:"#/definitions/name/pattern",keyword:"pattern",params:{pattern: "^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$"},message:"must match pattern \""+"^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$"+"\""}];
return false;
}
}
}
}
else {
validate47.errors = [{instancePath:instancePath+"/channel",schemaPath:"#/definitions/name/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid0 = _errs6 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.name !== undefined){
let data3 = data.name;
const _errs9 = errors;
const _errs10 = errors;
if(errors === _errs10){
if(typeof data3 === "string"){
if(data3.length > 253){
validate47.errors = [{instancePath:instancePath+"/name",schemaPath:"#/definitions/name/maxLength",keyword:"maxLength",params:{limit: 253},message:"must NOT have more than 253 characters"}];
return false;
}
else {
if(data3.length < 1){
validate47.errors = [{instancePath:instancePath+"/name",schemaPath:"#/definitions/name/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
else {
if(!pattern0.test(data3)){
validate47.errors = [{instancePath:instancePath+"/name",schemaPath:"#/definitions/name/pattern",keyword:"pattern",params:{pattern: "^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$"},message:"must match pattern \""+"^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$"+"\""}];
return false;
}
}
}
}
else {
validate47.errors = [{instancePath:instancePath+"/name",schemaPath:"#/definitions/name/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.secret !== undefined){
let data4 = data.secret;
const _errs12 = errors;
if(errors === _errs12){
if(typeof data4 === "string"){
if(data4.length > 8192){
validate47.errors = [{instancePath:instancePath+"/secret",schemaPath:"#/properties/secret/maxLength",keyword:"maxLength",params:{limit: 8192},message:"must NOT have more than 8192 characters"}];
return false;
}
else {
if(data4.length < 1){
validate47.errors = [{instancePath:instancePath+"/secret",schemaPath:"#/properties/secret/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
else {
if(!pattern23.test(data4)){
validate47.errors = [{instancePath:instancePath+"/secret",schemaPath:"#/properties/secret/pattern",keyword:"pattern",params:{pattern: "^[\\x21-\\x7e]+$"},message:"must match pattern \""+"^[\\x21-\\x7e]+$"+"\""}];
return false;
}
}
}
}
else {
validate47.errors = [{instancePath:instancePath+"/secret",schemaPath:"#/properties/secret/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid0 = _errs12 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
else {
validate47.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"}];
return false;
}
}
validate47.errors = vErrors;
return errors === 0;
}

export const route = validate48;
const schema54 = {"type":"object","additionalProperties":false,"required":["kind","namespace","name","model","visibility","capabilities","targets","strategy","failover","keySelector"],"properties":{"kind":{"const":"route"},"namespace":{"$ref":"#/definitions/name"},"name":{"$ref":"#/definitions/name"},"model":{"type":"string","minLength":1,"maxLength":256,"description":"Public name; one `*` at an end makes it a pattern."},"aliases":{"type":"array","maxItems":16,"items":{"type":"string","minLength":1,"maxLength":256}},"visibility":{"enum":["Listed","Unlisted","Internal"]},"info":{"type":"object","additionalProperties":false,"properties":{"ownedBy":{"type":"string","maxLength":128},"createdAt":{"$ref":"#/definitions/timestamp"},"displayName":{"type":"string","maxLength":128},"contextWindow":{"type":"integer","minimum":1,"maximum":1000000000},"maxOutputTokens":{"type":"integer","minimum":1,"maximum":1000000000}}},"capabilities":{"type":"array","maxItems":16,"items":{"$ref":"#/definitions/capability"}},"targets":{"type":"array","maxItems":256,"description":"Only targets whose channel is resolved and allowed; references to other routes are already flattened.","items":{"type":"object","additionalProperties":false,"required":["name","channel","priority","weight"],"properties":{"name":{"type":"string","minLength":1,"maxLength":253},"channel":{"type":"string","maxLength":507,"pattern":"^[^/]+/[^/]+$","description":"`namespace/name`."},"upstreamModel":{"type":"string","minLength":1,"maxLength":256},"priority":{"type":"integer","minimum":0,"maximum":1000000},"weight":{"type":"integer","minimum":0,"maximum":1000000000},"parameters":{"$ref":"#/definitions/bodyRules"}}}},"strategy":{"enum":["Weighted","LeastInFlight","LowestLatency","CacheAffinity"]},"failover":{"type":"object","additionalProperties":false,"required":["maxAttempts","on","withinFirstMs"],"properties":{"maxAttempts":{"type":"integer","minimum":1,"maximum":10},"on":{"type":"array","maxItems":8,"items":{"enum":["ConnectFailure","Timeout","RateLimited","ServerError","CredentialRejected","PaymentRequired","ModelNotFound","ContextTooLong"]}},"statuses":{"type":"array","maxItems":64,"items":{"type":"integer","minimum":400,"maximum":599}},"withinFirstMs":{"$ref":"#/definitions/durationMs"},"backoffBaseMs":{"$ref":"#/definitions/durationMs"},"backoffMaxMs":{"$ref":"#/definitions/durationMs"},"honorRetryAfter":{"type":"boolean"}}},"timeouts":{"$ref":"#/definitions/timeouts"},"keySelector":{"type":"object","additionalProperties":false,"required":["namespaces"],"properties":{"namespaces":{"type":"array","maxItems":10000,"items":{"type":"string"},"description":"Namespaces whose keys may call this route; `*` for all."},"matchLabels":{"$ref":"#/definitions/labels"},"matchExpressions":{"type":"array","maxItems":32,"items":{"$ref":"#/definitions/selectorRequirement"}}}},"limits":{"$ref":"#/definitions/limits"},"parameters":{"type":"array","maxItems":64,"description":"Ranges that narrow docs/design/interface.md 8 for this model.","items":{"type":"object","additionalProperties":false,"required":["name"],"properties":{"name":{"type":"string","minLength":1,"maxLength":128,"description":"Field as the interface spells it, for example `temperature` or `max_tokens`."},"minimum":{"type":"number"},"maximum":{"type":"number"},"allowed":{"type":"array","maxItems":64,"items":{"type":"string","maxLength":128}},"supported":{"type":"boolean"}}}},"price":{"type":"object","additionalProperties":false,"description":"Micro-credits (10^-6) per million of the class, per request, per image, per minute, per search; absent classes fall back.","properties":{"input":{"$ref":"#/definitions/amount"},"cachedInput":{"$ref":"#/definitions/amount"},"cacheWrite":{"$ref":"#/definitions/amount"},"cacheWrite1h":{"$ref":"#/definitions/amount"},"output":{"$ref":"#/definitions/amount"},"reasoning":{"$ref":"#/definitions/amount"},"audioInput":{"$ref":"#/definitions/amount"},"audioOutput":{"$ref":"#/definitions/amount"},"imageInput":{"$ref":"#/definitions/amount"},"imageOutput":{"$ref":"#/definitions/amount"},"characters":{"$ref":"#/definitions/amount"},"request":{"$ref":"#/definitions/amount"},"audioMinute":{"$ref":"#/definitions/amount"},"search":{"$ref":"#/definitions/amount"},"images":{"type":"array","maxItems":64,"items":{"type":"object","additionalProperties":false,"required":["price"],"properties":{"size":{"type":"string"},"quality":{"type":"string"},"price":{"$ref":"#/definitions/amount"}}}}}}}};
const schema63 = {"type":"object","additionalProperties":false,"required":["key","operator"],"properties":{"key":{"type":"string","maxLength":317},"operator":{"enum":["In","NotIn","Exists","DoesNotExist"]},"values":{"type":"array","maxItems":64,"items":{"type":"string","maxLength":63}}}};
const pattern26 = new RegExp("^[^/]+/[^/]+$", "u");

function validate48(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((((((((((data.kind === undefined) && (missing0 = "kind")) || ((data.namespace === undefined) && (missing0 = "namespace"))) || ((data.name === undefined) && (missing0 = "name"))) || ((data.model === undefined) && (missing0 = "model"))) || ((data.visibility === undefined) && (missing0 = "visibility"))) || ((data.capabilities === undefined) && (missing0 = "capabilities"))) || ((data.targets === undefined) && (missing0 = "targets"))) || ((data.strategy === undefined) && (missing0 = "strategy"))) || ((data.failover === undefined) && (missing0 = "failover"))) || ((data.keySelector === undefined) && (missing0 = "keySelector"))){
validate48.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'"}];
return false;
}
else {
const _errs1 = errors;
for(const key0 in data){
if(!(func2.call(schema54.properties, key0))){
validate48.errors = [{instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties"}];
return false;
break;
}
}
if(_errs1 === errors){
if(data.kind !== undefined){
const _errs2 = errors;
if("route" !== data.kind){
validate48.errors = [{instancePath:instancePath+"/kind",schemaPath:"#/properties/kind/const",keyword:"const",params:{allowedValue: "route"},message:"must be equal to constant"}];
return false;
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.namespace !== undefined){
let data1 = data.namespace;
const _errs3 = errors;
const _errs4 = errors;
if(errors === _errs4){
if(typeof data1 === "string"){
if(data1.length > 253){
validate48.errors = [{instancePath:instancePath+"/namespace",schemaPath:"#/definitions/name/maxLength",keyword:"maxLength",params:{limit: 253},message:"must NOT have more than 253 characters"}];
return false;
}
else {
if(data1.length < 1){
validate48.errors = [{instancePath:instancePath+"/namespace",schemaPath:"#/definitions/name/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
else {
if(!pattern0.test(data1)){
validate48.errors = [{instancePath:instancePath+"/namespace",schemaPath:"#/definitions/name/pattern",keyword:"pattern",params:{pattern: "^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$"},message:"must match pattern \""+"^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$"+"\""}];
return false;
}
}
}
}
else {
validate48.errors = [{instancePath:instancePath+"/namespace",schemaPath:"#/definitions/name/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.name !== undefined){
let data2 = data.name;
const _errs6 = errors;
const _errs7 = errors;
if(errors === _errs7){
if(typeof data2 === "string"){
if(data2.length > 253){
validate48.errors = [{instancePath:instancePath+"/name",schemaPath:"#/definitions/name/maxLength",keyword:"maxLength",params:{limit: 253},message:"must NOT have more than 253 characters"}];
return false;
}
else {
if(data2.length < 1){
validate48.errors = [{instancePath:instancePath+"/name",schemaPath:"#/definitions/name/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
else {
if(!pattern0.test(data2)){
validate48.errors = [{instancePath:instancePath+"/name",schemaPath:"#/definitions/name/pattern",keyword:"pattern",params:{pattern: "^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$"},message:"must match pattern \""+"^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$"+"\""}];
return false;
}
}
}
}
else {
validate48.errors = [{instancePath:instancePath+"/name",schemaPath:"#/definitions/name/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid0 = _errs6 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.model !== undefined){
let data3 = data.model;
const _errs9 = errors;
if(errors === _errs9){
if(typeof data3 === "string"){
if(data3.length > 256){
validate48.errors = [{instancePath:instancePath+"/model",schemaPath:"#/properties/model/maxLength",keyword:"maxLength",params:{limit: 256},message:"must NOT have more than 256 characters"}];
return false;
}
else {
if(data3.length < 1){
validate48.errors = [{instancePath:instancePath+"/model",schemaPath:"#/properties/model/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
}
}
else {
validate48.errors = [{instancePath:instancePath+"/model",schemaPath:"#/properties/model/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.aliases !== undefined){
let data4 = data.aliases;
const _errs11 = errors;
if(errors === _errs11){
if(Array.isArray(data4)){
if(data4.length > 16){
validate48.errors = [{instancePath:instancePath+"/aliases",schemaPath:"#/properties/aliases/maxItems",keyword:"maxItems",params:{limit: 16},message:"must NOT have more than 16 items"}];
return false;
}
else {
var valid3 = true;
const len0 = data4.length;
for(let i0=0; i0<len0; i0++){
let data5 = data4[i0];
const _errs13 = errors;
if(errors === _errs13){
if(typeof data5 === "string"){
if(data5.length > 256){
validate48.errors = [{instancePath:instancePath+"/aliases/" + i0,schemaPath:"#/properties/aliases/items/maxLength",keyword:"maxLength",params:{limit: 256},message:"must NOT have more than 256 characters"}];
return false;
}
else {
if(data5.length < 1){
validate48.errors = [{instancePath:instancePath+"/aliases/" + i0,schemaPath:"#/properties/aliases/items/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
}
}
else {
validate48.errors = [{instancePath:instancePath+"/aliases/" + i0,schemaPath:"#/properties/aliases/items/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid3 = _errs13 === errors;
if(!valid3){
break;
}
}
}
}
else {
validate48.errors = [{instancePath:instancePath+"/aliases",schemaPath:"#/properties/aliases/type",keyword:"type",params:{type: "array"},message:"must be array"}];
return false;
}
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.visibility !== undefined){
let data6 = data.visibility;
const _errs15 = errors;
if(!(((data6 === "Listed") || (data6 === "Unlisted")) || (data6 === "Internal"))){
validate48.errors = [{instancePath:instancePath+"/visibility",schemaPath:"#/properties/visibility/enum",keyword:"enum",params:{allowedValues: schema54.properties.visibility.enum},message:"must be equal to one of the allowed values"}];
return false;
}
var valid0 = _errs15 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.info !== undefined){
let data7 = data.info;
const _errs16 = errors;
if(errors === _errs16){
if(data7 && typeof data7 == "object" && !Array.isArray(data7)){
const _errs18 = errors;
for(const key1 in data7){
if(!(((((key1 === "ownedBy") || (key1 === "createdAt")) || (key1 === "displayName")) || (key1 === "contextWindow")) || (key1 === "maxOutputTokens"))){
validate48.errors = [{instancePath:instancePath+"/info",schemaPath:"#/properties/info/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key1},message:"must NOT have additional properties"}];
return false;
break;
}
}
if(_errs18 === errors){
if(data7.ownedBy !== undefined){
let data8 = data7.ownedBy;
const _errs19 = errors;
if(errors === _errs19){
if(typeof data8 === "string"){
if(data8.length > 128){
validate48.errors = [{instancePath:instancePath+"/info/ownedBy",schemaPath:"#/properties/info/properties/ownedBy/maxLength",keyword:"maxLength",params:{limit: 128},message:"must NOT have more than 128 characters"}];
return false;
}
}
else {
validate48.errors = [{instancePath:instancePath+"/info/ownedBy",schemaPath:"#/properties/info/properties/ownedBy/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid4 = _errs19 === errors;
}
else {
var valid4 = true;
}
if(valid4){
if(data7.createdAt !== undefined){
let data9 = data7.createdAt;
const _errs21 = errors;
const _errs22 = errors;
if(!((typeof data9 == "number") && (!(data9 % 1) && !isNaN(data9)))){
validate48.errors = [{instancePath:instancePath+"/info/createdAt",schemaPath:"#/definitions/timestamp/type",keyword:"type",params:{type: "integer"},message:"must be integer"}];
return false;
}
if(errors === _errs22){
if(typeof data9 == "number"){
if(data9 > 8640000000000000 || isNaN(data9)){
validate48.errors = [{instancePath:instancePath+"/info/createdAt",schemaPath:"#/definitions/timestamp/maximum",keyword:"maximum",params:{comparison: "<=", limit: 8640000000000000},message:"must be <= 8640000000000000"}];
return false;
}
else {
if(data9 < 0 || isNaN(data9)){
validate48.errors = [{instancePath:instancePath+"/info/createdAt",schemaPath:"#/definitions/timestamp/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"}];
return false;
}
}
}
}
var valid4 = _errs21 === errors;
}
else {
var valid4 = true;
}
if(valid4){
if(data7.displayName !== undefined){
let data10 = data7.displayName;
const _errs24 = errors;
if(errors === _errs24){
if(typeof data10 === "string"){
if(data10.length > 128){
validate48.errors = [{instancePath:instancePath+"/info/displayName",schemaPath:"#/properties/info/properties/displayName/maxLength",keyword:"maxLength",params:{limit: 128},message:"must NOT have more than 128 characters"}];
return false;
}
}
else {
validate48.errors = [{instancePath:instancePath+"/info/displayName",schemaPath:"#/properties/info/properties/displayName/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid4 = _errs24 === errors;
}
else {
var valid4 = true;
}
if(valid4){
if(data7.contextWindow !== undefined){
let data11 = data7.contextWindow;
const _errs26 = errors;
if(!((typeof data11 == "number") && (!(data11 % 1) && !isNaN(data11)))){
validate48.errors = [{instancePath:instancePath+"/info/contextWindow",schemaPath:"#/properties/info/properties/contextWindow/type",keyword:"type",params:{type: "integer"},message:"must be integer"}];
return false;
}
if(errors === _errs26){
if(typeof data11 == "number"){
if(data11 > 1000000000 || isNaN(data11)){
validate48.errors = [{instancePath:instancePath+"/info/contextWindow",schemaPath:"#/properties/info/properties/contextWindow/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000000000},message:"must be <= 1000000000"}];
return false;
}
else {
if(data11 < 1 || isNaN(data11)){
validate48.errors = [{instancePath:instancePath+"/info/contextWindow",schemaPath:"#/properties/info/properties/contextWindow/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1"}];
return false;
}
}
}
}
var valid4 = _errs26 === errors;
}
else {
var valid4 = true;
}
if(valid4){
if(data7.maxOutputTokens !== undefined){
let data12 = data7.maxOutputTokens;
const _errs28 = errors;
if(!((typeof data12 == "number") && (!(data12 % 1) && !isNaN(data12)))){
validate48.errors = [{instancePath:instancePath+"/info/maxOutputTokens",schemaPath:"#/properties/info/properties/maxOutputTokens/type",keyword:"type",params:{type: "integer"},message:"must be integer"}];
return false;
}
if(errors === _errs28){
if(typeof data12 == "number"){
if(data12 > 1000000000 || isNaN(data12)){
validate48.errors = [{instancePath:instancePath+"/info/maxOutputTokens",schemaPath:"#/properties/info/properties/maxOutputTokens/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000000000},message:"must be <= 1000000000"}];
return false;
}
else {
if(data12 < 1 || isNaN(data12)){
validate48.errors = [{instancePath:instancePath+"/info/maxOutputTokens",schemaPath:"#/properties/info/properties/maxOutputTokens/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1"}];
return false;
}
}
}
}
var valid4 = _errs28 === errors;
}
else {
var valid4 = true;
}
}
}
}
}
}
}
else {
validate48.errors = [{instancePath:instancePath+"/info",schemaPath:"#/properties/info/type",keyword:"type",params:{type: "object"},message:"must be object"}];
return false;
}
}
var valid0 = _errs16 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.capabilities !== undefined){
let data13 = data.capabilities;
const _errs30 = errors;
if(errors === _errs30){
if(Array.isArray(data13)){
if(data13.length > 16){
validate48.errors = [{instancePath:instancePath+"/capabilities",schemaPath:"#/properties/capabilities/maxItems",keyword:"maxItems",params:{limit: 16},message:"must NOT have more than 16 items"}];
return false;
}
else {
var valid6 = true;
const len1 = data13.length;
for(let i1=0; i1<len1; i1++){
let data14 = data13[i1];
const _errs32 = errors;
if(!((((((((((((((data14 === "Chat") || (data14 === "Completion")) || (data14 === "CountTokens")) || (data14 === "Embeddings")) || (data14 === "Rerank")) || (data14 === "Speech")) || (data14 === "Transcription")) || (data14 === "Translation")) || (data14 === "ImageGeneration")) || (data14 === "ImageEdit")) || (data14 === "Moderation")) || (data14 === "Realtime")) || (data14 === "Models")) || (data14 === "Passthrough"))){
validate48.errors = [{instancePath:instancePath+"/capabilities/" + i1,schemaPath:"#/definitions/capability/enum",keyword:"enum",params:{allowedValues: schema24.enum},message:"must be equal to one of the allowed values"}];
return false;
}
var valid6 = _errs32 === errors;
if(!valid6){
break;
}
}
}
}
else {
validate48.errors = [{instancePath:instancePath+"/capabilities",schemaPath:"#/properties/capabilities/type",keyword:"type",params:{type: "array"},message:"must be array"}];
return false;
}
}
var valid0 = _errs30 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.targets !== undefined){
let data15 = data.targets;
const _errs34 = errors;
if(errors === _errs34){
if(Array.isArray(data15)){
if(data15.length > 256){
validate48.errors = [{instancePath:instancePath+"/targets",schemaPath:"#/properties/targets/maxItems",keyword:"maxItems",params:{limit: 256},message:"must NOT have more than 256 items"}];
return false;
}
else {
var valid8 = true;
const len2 = data15.length;
for(let i2=0; i2<len2; i2++){
let data16 = data15[i2];
const _errs36 = errors;
if(errors === _errs36){
if(data16 && typeof data16 == "object" && !Array.isArray(data16)){
let missing1;
if(((((data16.name === undefined) && (missing1 = "name")) || ((data16.channel === undefined) && (missing1 = "channel"))) || ((data16.priority === undefined) && (missing1 = "priority"))) || ((data16.weight === undefined) && (missing1 = "weight"))){
validate48.errors = [{instancePath:instancePath+"/targets/" + i2,schemaPath:"#/properties/targets/items/required",keyword:"required",params:{missingProperty: missing1},message:"must have required property '"+missing1+"'"}];
return false;
}
else {
const _errs38 = errors;
for(const key2 in data16){
if(!((((((key2 === "name") || (key2 === "channel")) || (key2 === "upstreamModel")) || (key2 === "priority")) || (key2 === "weight")) || (key2 === "parameters"))){
validate48.errors = [{instancePath:instancePath+"/targets/" + i2,schemaPath:"#/properties/targets/items/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key2},message:"must NOT have additional properties"}];
return false;
break;
}
}
if(_errs38 === errors){
if(data16.name !== undefined){
let data17 = data16.name;
const _errs39 = errors;
if(errors === _errs39){
if(typeof data17 === "string"){
if(data17.length > 253){
validate48.errors = [{instancePath:instancePath+"/targets/" + i2+"/name",schemaPath:"#/properties/targets/items/properties/name/maxLength",keyword:"maxLength",params:{limit: 253},message:"must NOT have more than 253 characters"}];
return false;
}
else {
if(data17.length < 1){
validate48.errors = [{instancePath:instancePath+"/targets/" + i2+"/name",schemaPath:"#/properties/targets/items/properties/name/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
}
}
else {
validate48.errors = [{instancePath:instancePath+"/targets/" + i2+"/name",schemaPath:"#/properties/targets/items/properties/name/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid9 = _errs39 === errors;
}
else {
var valid9 = true;
}
if(valid9){
if(data16.channel !== undefined){
let data18 = data16.channel;
const _errs41 = errors;
if(errors === _errs41){
if(typeof data18 === "string"){
if(data18.length > 507){
validate48.errors = [{instancePath:instancePath+"/targets/" + i2+"/channel",schemaPath:"#/properties/targets/items/properties/channel/maxLength",keyword:"maxLength",params:{limit: 507},message:"must NOT have more than 507 characters"}];
return false;
}
else {
if(!pattern26.test(data18)){
validate48.errors = [{instancePath:instancePath+"/targets/" + i2+"/channel",schemaPath:"#/properties/targets/items/properties/channel/pattern",keyword:"pattern",params:{pattern: "^[^/]+/[^/]+$"},message:"must match pattern \""+"^[^/]+/[^/]+$"+"\""}];
return false;
}
}
}
else {
validate48.errors = [{instancePath:instancePath+"/targets/" + i2+"/channel",schemaPath:"#/properties/targets/items/properties/channel/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid9 = _errs41 === errors;
}
else {
var valid9 = true;
}
if(valid9){
if(data16.upstreamModel !== undefined){
let data19 = data16.upstreamModel;
const _errs43 = errors;
if(errors === _errs43){
if(typeof data19 === "string"){
if(data19.length > 256){
validate48.errors = [{instancePath:instancePath+"/targets/" + i2+"/upstreamModel",schemaPath:"#/properties/targets/items/properties/upstreamModel/maxLength",keyword:"maxLength",params:{limit: 256},message:"must NOT have more than 256 characters"}];
return false;
}
else {
if(data19.length < 1){
validate48.errors = [{instancePath:instancePath+"/targets/" + i2+"/upstreamModel",schemaPath:"#/properties/targets/items/properties/upstreamModel/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
}
}
else {
validate48.errors = [{instancePath:instancePath+"/targets/" + i2+"/upstreamModel",schemaPath:"#/properties/targets/items/properties/upstreamModel/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid9 = _errs43 === errors;
}
else {
var valid9 = true;
}
if(valid9){
if(data16.priority !== undefined){
let data20 = data16.priority;
const _errs45 = errors;
if(!((typeof data20 == "number") && (!(data20 % 1) && !isNaN(data20)))){
validate48.errors = [{instancePath:instancePath+"/targets/" + i2+"/priority",schemaPath:"#/properties/targets/items/properties/priority/type",keyword:"type",params:{type: "integer"},message:"must be integer"}];
return false;
}
if(errors === _errs45){
if(typeof data20 == "number"){
if(data20 > 1000000 || isNaN(data20)){
validate48.errors = [{instancePath:instancePath+"/targets/" + i2+"/priority",schemaPath:"#/properties/targets/items/properties/priority/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000000},message:"must be <= 1000000"}];
return false;
}
else {
if(data20 < 0 || isNaN(data20)){
validate48.errors = [{instancePath:instancePath+"/targets/" + i2+"/priority",schemaPath:"#/properties/targets/items/properties/priority/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"}];
return false;
}
}
}
}
var valid9 = _errs45 === errors;
}
else {
var valid9 = true;
}
if(valid9){
if(data16.weight !== undefined){
let data21 = data16.weight;
const _errs47 = errors;
if(!((typeof data21 == "number") && (!(data21 % 1) && !isNaN(data21)))){
validate48.errors = [{instancePath:instancePath+"/targets/" + i2+"/weight",schemaPath:"#/properties/targets/items/properties/weight/type",keyword:"type",params:{type: "integer"},message:"must be integer"}];
return false;
}
if(errors === _errs47){
if(typeof data21 == "number"){
if(data21 > 1000000000 || isNaN(data21)){
validate48.errors = [{instancePath:instancePath+"/targets/" + i2+"/weight",schemaPath:"#/properties/targets/items/properties/weight/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000000000},message:"must be <= 1000000000"}];
return false;
}
else {
if(data21 < 0 || isNaN(data21)){
validate48.errors = [{instancePath:instancePath+"/targets/" + i2+"/weight",schemaPath:"#/properties/targets/items/properties/weight/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"}];
return false;
}
}
}
}
var valid9 = _errs47 === errors;
}
else {
var valid9 = true;
}
if(valid9){
if(data16.parameters !== undefined){
const _errs49 = errors;
if(!(validate24(data16.parameters, {instancePath:instancePath+"/targets/" + i2+"/parameters",parentData:data16,parentDataProperty:"parameters",rootData}))){
vErrors = vErrors === null ? validate24.errors : vErrors.concat(validate24.errors);
errors = vErrors.length;
}
var valid9 = _errs49 === errors;
}
else {
var valid9 = true;
}
}
}
}
}
}
}
}
}
else {
validate48.errors = [{instancePath:instancePath+"/targets/" + i2,schemaPath:"#/properties/targets/items/type",keyword:"type",params:{type: "object"},message:"must be object"}];
return false;
}
}
var valid8 = _errs36 === errors;
if(!valid8){
break;
}
}
}
}
else {
validate48.errors = [{instancePath:instancePath+"/targets",schemaPath:"#/properties/targets/type",keyword:"type",params:{type: "array"},message:"must be array"}];
return false;
}
}
var valid0 = _errs34 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.strategy !== undefined){
let data23 = data.strategy;
const _errs50 = errors;
if(!((((data23 === "Weighted") || (data23 === "LeastInFlight")) || (data23 === "LowestLatency")) || (data23 === "CacheAffinity"))){
validate48.errors = [{instancePath:instancePath+"/strategy",schemaPath:"#/properties/strategy/enum",keyword:"enum",params:{allowedValues: schema54.properties.strategy.enum},message:"must be equal to one of the allowed values"}];
return false;
}
var valid0 = _errs50 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.failover !== undefined){
let data24 = data.failover;
const _errs51 = errors;
if(errors === _errs51){
if(data24 && typeof data24 == "object" && !Array.isArray(data24)){
let missing2;
if((((data24.maxAttempts === undefined) && (missing2 = "maxAttempts")) || ((data24.on === undefined) && (missing2 = "on"))) || ((data24.withinFirstMs === undefined) && (missing2 = "withinFirstMs"))){
validate48.errors = [{instancePath:instancePath+"/failover",schemaPath:"#/properties/failover/required",keyword:"required",params:{missingProperty: missing2},message:"must have required property '"+missing2+"'"}];
return false;
}
else {
const _errs53 = errors;
for(const key3 in data24){
if(!(((((((key3 === "maxAttempts") || (key3 === "on")) || (key3 === "statuses")) || (key3 === "withinFirstMs")) || (key3 === "backoffBaseMs")) || (key3 === "backoffMaxMs")) || (key3 === "honorRetryAfter"))){
validate48.errors = [{instancePath:instancePath+"/failover",schemaPath:"#/properties/failover/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key3},message:"must NOT have additional properties"}];
return false;
break;
}
}
if(_errs53 === errors){
if(data24.maxAttempts !== undefined){
let data25 = data24.maxAttempts;
const _errs54 = errors;
if(!((typeof data25 == "number") && (!(data25 % 1) && !isNaN(data25)))){
validate48.errors = [{instancePath:instancePath+"/failover/maxAttempts",schemaPath:"#/properties/failover/properties/maxAttempts/type",keyword:"type",params:{type: "integer"},message:"must be integer"}];
return false;
}
if(errors === _errs54){
if(typeof data25 == "number"){
if(data25 > 10 || isNaN(data25)){
validate48.errors = [{instancePath:instancePath+"/failover/maxAttempts",schemaPath:"#/properties/failover/properties/maxAttempts/maximum",keyword:"maximum",params:{comparison: "<=", limit: 10},message:"must be <= 10"}];
return false;
}
else {
if(data25 < 1 || isNaN(data25)){
validate48.errors = [{instancePath:instancePath+"/failover/maxAttempts",schemaPath:"#/properties/failover/properties/maxAttempts/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1"}];
return false;
}
}
}
}
var valid10 = _errs54 === errors;
}
else {
var valid10 = true;
}
if(valid10){
if(data24.on !== undefined){
let data26 = data24.on;
const _errs56 = errors;
if(errors === _errs56){
if(Array.isArray(data26)){
if(data26.length > 8){
validate48.errors = [{instancePath:instancePath+"/failover/on",schemaPath:"#/properties/failover/properties/on/maxItems",keyword:"maxItems",params:{limit: 8},message:"must NOT have more than 8 items"}];
return false;
}
else {
var valid11 = true;
const len3 = data26.length;
for(let i3=0; i3<len3; i3++){
let data27 = data26[i3];
const _errs58 = errors;
if(!((((((((data27 === "ConnectFailure") || (data27 === "Timeout")) || (data27 === "RateLimited")) || (data27 === "ServerError")) || (data27 === "CredentialRejected")) || (data27 === "PaymentRequired")) || (data27 === "ModelNotFound")) || (data27 === "ContextTooLong"))){
validate48.errors = [{instancePath:instancePath+"/failover/on/" + i3,schemaPath:"#/properties/failover/properties/on/items/enum",keyword:"enum",params:{allowedValues: schema54.properties.failover.properties.on.items.enum},message:"must be equal to one of the allowed values"}];
return false;
}
var valid11 = _errs58 === errors;
if(!valid11){
break;
}
}
}
}
else {
validate48.errors = [{instancePath:instancePath+"/failover/on",schemaPath:"#/properties/failover/properties/on/type",keyword:"type",params:{type: "array"},message:"must be array"}];
return false;
}
}
var valid10 = _errs56 === errors;
}
else {
var valid10 = true;
}
if(valid10){
if(data24.statuses !== undefined){
let data28 = data24.statuses;
const _errs59 = errors;
if(errors === _errs59){
if(Array.isArray(data28)){
if(data28.length > 64){
validate48.errors = [{instancePath:instancePath+"/failover/statuses",schemaPath:"#/properties/failover/properties/statuses/maxItems",keyword:"maxItems",params:{limit: 64},message:"must NOT have more than 64 items"}];
return false;
}
else {
var valid12 = true;
const len4 = data28.length;
for(let i4=0; i4<len4; i4++){
let data29 = data28[i4];
const _errs61 = errors;
if(!((typeof data29 == "number") && (!(data29 % 1) && !isNaN(data29)))){
validate48.errors = [{instancePath:instancePath+"/failover/statuses/" + i4,schemaPath:"#/properties/failover/properties/statuses/items/type",keyword:"type",params:{type: "integer"},message:"must be integer"}];
return false;
}
if(errors === _errs61){
if(typeof data29 == "number"){
if(data29 > 599 || isNaN(data29)){
validate48.errors = [{instancePath:instancePath+"/failover/statuses/" + i4,schemaPath:"#/properties/failover/properties/statuses/items/maximum",keyword:"maximum",params:{comparison: "<=", limit: 599},message:"must be <= 599"}];
return false;
}
else {
if(data29 < 400 || isNaN(data29)){
validate48.errors = [{instancePath:instancePath+"/failover/statuses/" + i4,schemaPath:"#/properties/failover/properties/statuses/items/minimum",keyword:"minimum",params:{comparison: ">=", limit: 400},message:"must be >= 400"}];
return false;
}
}
}
}
var valid12 = _errs61 === errors;
if(!valid12){
break;
}
}
}
}
else {
validate48.errors = [{instancePath:instancePath+"/failover/statuses",schemaPath:"#/properties/failover/properties/statuses/type",keyword:"type",params:{type: "array"},message:"must be array"}];
return false;
}
}
var valid10 = _errs59 === errors;
}
else {
var valid10 = true;
}
if(valid10){
if(data24.withinFirstMs !== undefined){
let data30 = data24.withinFirstMs;
const _errs63 = errors;
const _errs64 = errors;
if(!((typeof data30 == "number") && (!(data30 % 1) && !isNaN(data30)))){
validate48.errors = [{instancePath:instancePath+"/failover/withinFirstMs",schemaPath:"#/definitions/durationMs/type",keyword:"type",params:{type: "integer"},message:"must be integer"}];
return false;
}
if(errors === _errs64){
if(typeof data30 == "number"){
if(data30 > 4294967295 || isNaN(data30)){
validate48.errors = [{instancePath:instancePath+"/failover/withinFirstMs",schemaPath:"#/definitions/durationMs/maximum",keyword:"maximum",params:{comparison: "<=", limit: 4294967295},message:"must be <= 4294967295"}];
return false;
}
else {
if(data30 < 0 || isNaN(data30)){
validate48.errors = [{instancePath:instancePath+"/failover/withinFirstMs",schemaPath:"#/definitions/durationMs/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"}];
return false;
}
}
}
}
var valid10 = _errs63 === errors;
}
else {
var valid10 = true;
}
if(valid10){
if(data24.backoffBaseMs !== undefined){
let data31 = data24.backoffBaseMs;
const _errs66 = errors;
const _errs67 = errors;
if(!((typeof data31 == "number") && (!(data31 % 1) && !isNaN(data31)))){
validate48.errors = [{instancePath:instancePath+"/failover/backoffBaseMs",schemaPath:"#/definitions/durationMs/type",keyword:"type",params:{type: "integer"},message:"must be integer"}];
return false;
}
if(errors === _errs67){
if(typeof data31 == "number"){
if(data31 > 4294967295 || isNaN(data31)){
validate48.errors = [{instancePath:instancePath+"/failover/backoffBaseMs",schemaPath:"#/definitions/durationMs/maximum",keyword:"maximum",params:{comparison: "<=", limit: 4294967295},message:"must be <= 4294967295"}];
return false;
}
else {
if(data31 < 0 || isNaN(data31)){
validate48.errors = [{instancePath:instancePath+"/failover/backoffBaseMs",schemaPath:"#/definitions/durationMs/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"}];
return false;
}
}
}
}
var valid10 = _errs66 === errors;
}
else {
var valid10 = true;
}
if(valid10){
if(data24.backoffMaxMs !== undefined){
let data32 = data24.backoffMaxMs;
const _errs69 = errors;
const _errs70 = errors;
if(!((typeof data32 == "number") && (!(data32 % 1) && !isNaN(data32)))){
validate48.errors = [{instancePath:instancePath+"/failover/backoffMaxMs",schemaPath:"#/definitions/durationMs/type",keyword:"type",params:{type: "integer"},message:"must be integer"}];
return false;
}
if(errors === _errs70){
if(typeof data32 == "number"){
if(data32 > 4294967295 || isNaN(data32)){
validate48.errors = [{instancePath:instancePath+"/failover/backoffMaxMs",schemaPath:"#/definitions/durationMs/maximum",keyword:"maximum",params:{comparison: "<=", limit: 4294967295},message:"must be <= 4294967295"}];
return false;
}
else {
if(data32 < 0 || isNaN(data32)){
validate48.errors = [{instancePath:instancePath+"/failover/backoffMaxMs",schemaPath:"#/definitions/durationMs/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"}];
return false;
}
}
}
}
var valid10 = _errs69 === errors;
}
else {
var valid10 = true;
}
if(valid10){
if(data24.honorRetryAfter !== undefined){
const _errs72 = errors;
if(typeof data24.honorRetryAfter !== "boolean"){
validate48.errors = [{instancePath:instancePath+"/failover/honorRetryAfter",schemaPath:"#/properties/failover/properties/honorRetryAfter/type",keyword:"type",params:{type: "boolean"},message:"must be boolean"}];
return false;
}
var valid10 = _errs72 === errors;
}
else {
var valid10 = true;
}
}
}
}
}
}
}
}
}
}
else {
validate48.errors = [{instancePath:instancePath+"/failover",schemaPath:"#/properties/failover/type",keyword:"type",params:{type: "object"},message:"must be object"}];
return false;
}
}
var valid0 = _errs51 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.timeouts !== undefined){
const _errs74 = errors;
if(!(validate26(data.timeouts, {instancePath:instancePath+"/timeouts",parentData:data,parentDataProperty:"timeouts",rootData}))){
vErrors = vErrors === null ? validate26.errors : vErrors.concat(validate26.errors);
errors = vErrors.length;
}
var valid0 = _errs74 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.keySelector !== undefined){
let data35 = data.keySelector;
const _errs75 = errors;
if(errors === _errs75){
if(data35 && typeof data35 == "object" && !Array.isArray(data35)){
let missing3;
if((data35.namespaces === undefined) && (missing3 = "namespaces")){
validate48.errors = [{instancePath:instancePath+"/keySelector",schemaPath:"#/properties/keySelector/required",keyword:"required",params:{missingProperty: missing3},message:"must have required property '"+missing3+"'"}];
return false;
}
else {
const _errs77 = errors;
for(const key4 in data35){
if(!(((key4 === "namespaces") || (key4 === "matchLabels")) || (key4 === "matchExpressions"))){
validate48.errors = [{instancePath:instancePath+"/keySelector",schemaPath:"#/properties/keySelector/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key4},message:"must NOT have additional properties"}];
return false;
break;
}
}
if(_errs77 === errors){
if(data35.namespaces !== undefined){
let data36 = data35.namespaces;
const _errs78 = errors;
if(errors === _errs78){
if(Array.isArray(data36)){
if(data36.length > 10000){
validate48.errors = [{instancePath:instancePath+"/keySelector/namespaces",schemaPath:"#/properties/keySelector/properties/namespaces/maxItems",keyword:"maxItems",params:{limit: 10000},message:"must NOT have more than 10000 items"}];
return false;
}
else {
var valid17 = true;
const len5 = data36.length;
for(let i5=0; i5<len5; i5++){
const _errs80 = errors;
if(typeof data36[i5] !== "string"){
validate48.errors = [{instancePath:instancePath+"/keySelector/namespaces/" + i5,schemaPath:"#/properties/keySelector/properties/namespaces/items/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
var valid17 = _errs80 === errors;
if(!valid17){
break;
}
}
}
}
else {
validate48.errors = [{instancePath:instancePath+"/keySelector/namespaces",schemaPath:"#/properties/keySelector/properties/namespaces/type",keyword:"type",params:{type: "array"},message:"must be array"}];
return false;
}
}
var valid16 = _errs78 === errors;
}
else {
var valid16 = true;
}
if(valid16){
if(data35.matchLabels !== undefined){
let data38 = data35.matchLabels;
const _errs82 = errors;
const _errs83 = errors;
if(errors === _errs83){
if(data38 && typeof data38 == "object" && !Array.isArray(data38)){
if(Object.keys(data38).length > 128){
validate48.errors = [{instancePath:instancePath+"/keySelector/matchLabels",schemaPath:"#/definitions/labels/maxProperties",keyword:"maxProperties",params:{limit: 128},message:"must NOT have more than 128 properties"}];
return false;
}
else {
for(const key5 in data38){
let data39 = data38[key5];
const _errs86 = errors;
if(errors === _errs86){
if(typeof data39 === "string"){
if(data39.length > 253){
validate48.errors = [{instancePath:instancePath+"/keySelector/matchLabels/" + key5.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/definitions/labels/additionalProperties/maxLength",keyword:"maxLength",params:{limit: 253},message:"must NOT have more than 253 characters"}];
return false;
}
}
else {
validate48.errors = [{instancePath:instancePath+"/keySelector/matchLabels/" + key5.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/definitions/labels/additionalProperties/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid19 = _errs86 === errors;
if(!valid19){
break;
}
}
}
}
else {
validate48.errors = [{instancePath:instancePath+"/keySelector/matchLabels",schemaPath:"#/definitions/labels/type",keyword:"type",params:{type: "object"},message:"must be object"}];
return false;
}
}
var valid16 = _errs82 === errors;
}
else {
var valid16 = true;
}
if(valid16){
if(data35.matchExpressions !== undefined){
let data40 = data35.matchExpressions;
const _errs88 = errors;
if(errors === _errs88){
if(Array.isArray(data40)){
if(data40.length > 32){
validate48.errors = [{instancePath:instancePath+"/keySelector/matchExpressions",schemaPath:"#/properties/keySelector/properties/matchExpressions/maxItems",keyword:"maxItems",params:{limit: 32},message:"must NOT have more than 32 items"}];
return false;
}
else {
var valid20 = true;
const len6 = data40.length;
for(let i6=0; i6<len6; i6++){
let data41 = data40[i6];
const _errs90 = errors;
const _errs91 = errors;
if(errors === _errs91){
if(data41 && typeof data41 == "object" && !Array.isArray(data41)){
let missing4;
if(((data41.key === undefined) && (missing4 = "key")) || ((data41.operator === undefined) && (missing4 = "operator"))){
validate48.errors = [{instancePath:instancePath+"/keySelector/matchExpressions/" + i6,schemaPath:"#/definitions/selectorRequirement/required",keyword:"required",params:{missingProperty: missing4},message:"must have required property '"+missing4+"'"}];
return false;
}
else {
const _errs93 = errors;
for(const key6 in data41){
if(!(((key6 === "key") || (key6 === "operator")) || (key6 === "values"))){
validate48.errors = [{instancePath:instancePath+"/keySelector/matchExpressions/" + i6,schemaPath:"#/definitions/selectorRequirement/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key6},message:"must NOT have additional properties"}];
return false;
break;
}
}
if(_errs93 === errors){
if(data41.key !== undefined){
let data42 = data41.key;
const _errs94 = errors;
if(errors === _errs94){
if(typeof data42 === "string"){
if(data42.length > 317){
validate48.errors = [{instancePath:instancePath+"/keySelector/matchExpressions/" + i6+"/key",schemaPath:"#/definitions/selectorRequirement/properties/key/maxLength",keyword:"maxLength",params:{limit: 317},message:"must NOT have more than 317 characters"}];
return false;
}
}
else {
validate48.errors = [{instancePath:instancePath+"/keySelector/matchExpressions/" + i6+"/key",schemaPath:"#/definitions/selectorRequirement/properties/key/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid22 = _errs94 === errors;
}
else {
var valid22 = true;
}
if(valid22){
if(data41.operator !== undefined){
let data43 = data41.operator;
const _errs96 = errors;
if(!((((data43 === "In") || (data43 === "NotIn")) || (data43 === "Exists")) || (data43 === "DoesNotExist"))){
validate48.errors = [{instancePath:instancePath+"/keySelector/matchExpressions/" + i6+"/operator",schemaPath:"#/definitions/selectorRequirement/properties/operator/enum",keyword:"enum",params:{allowedValues: schema63.properties.operator.enum},message:"must be equal to one of the allowed values"}];
return false;
}
var valid22 = _errs96 === errors;
}
else {
var valid22 = true;
}
if(valid22){
if(data41.values !== undefined){
let data44 = data41.values;
const _errs97 = errors;
if(errors === _errs97){
if(Array.isArray(data44)){
if(data44.length > 64){
validate48.errors = [{instancePath:instancePath+"/keySelector/matchExpressions/" + i6+"/values",schemaPath:"#/definitions/selectorRequirement/properties/values/maxItems",keyword:"maxItems",params:{limit: 64},message:"must NOT have more than 64 items"}];
return false;
}
else {
var valid23 = true;
const len7 = data44.length;
for(let i7=0; i7<len7; i7++){
let data45 = data44[i7];
const _errs99 = errors;
if(errors === _errs99){
if(typeof data45 === "string"){
if(data45.length > 63){
validate48.errors = [{instancePath:instancePath+"/keySelector/matchExpressions/" + i6+"/values/" + i7,schemaPath:"#/definitions/selectorRequirement/properties/values/items/maxLength",keyword:"maxLength",params:{limit: 63},message:"must NOT have more than 63 characters"}];
return false;
}
}
else {
validate48.errors = [{instancePath:instancePath+"/keySelector/matchExpressions/" + i6+"/values/" + i7,schemaPath:"#/definitions/selectorRequirement/properties/values/items/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid23 = _errs99 === errors;
if(!valid23){
break;
}
}
}
}
else {
validate48.errors = [{instancePath:instancePath+"/keySelector/matchExpressions/" + i6+"/values",schemaPath:"#/definitions/selectorRequirement/properties/values/type",keyword:"type",params:{type: "array"},message:"must be array"}];
return false;
}
}
var valid22 = _errs97 === errors;
}
else {
var valid22 = true;
}
}
}
}
}
}
else {
validate48.errors = [{instancePath:instancePath+"/keySelector/matchExpressions/" + i6,schemaPath:"#/definitions/selectorRequirement/type",keyword:"type",params:{type: "object"},message:"must be object"}];
return false;
}
}
var valid20 = _errs90 === errors;
if(!valid20){
break;
}
}
}
}
else {
validate48.errors = [{instancePath:instancePath+"/keySelector/matchExpressions",schemaPath:"#/properties/keySelector/properties/matchExpressions/type",keyword:"type",params:{type: "array"},message:"must be array"}];
return false;
}
}
var valid16 = _errs88 === errors;
}
else {
var valid16 = true;
}
}
}
}
}
}
else {
validate48.errors = [{instancePath:instancePath+"/keySelector",schemaPath:"#/properties/keySelector/type",keyword:"type",params:{type: "object"},message:"must be object"}];
return false;
}
}
var valid0 = _errs75 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.limits !== undefined){
const _errs101 = errors;
if(!(validate14(data.limits, {instancePath:instancePath+"/limits",parentData:data,parentDataProperty:"limits",rootData}))){
vErrors = vErrors === null ? validate14.errors : vErrors.concat(validate14.errors);
errors = vErrors.length;
}
var valid0 = _errs101 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.parameters !== undefined){
let data47 = data.parameters;
const _errs102 = errors;
if(errors === _errs102){
if(Array.isArray(data47)){
if(data47.length > 64){
validate48.errors = [{instancePath:instancePath+"/parameters",schemaPath:"#/properties/parameters/maxItems",keyword:"maxItems",params:{limit: 64},message:"must NOT have more than 64 items"}];
return false;
}
else {
var valid24 = true;
const len8 = data47.length;
for(let i8=0; i8<len8; i8++){
let data48 = data47[i8];
const _errs104 = errors;
if(errors === _errs104){
if(data48 && typeof data48 == "object" && !Array.isArray(data48)){
let missing5;
if((data48.name === undefined) && (missing5 = "name")){
validate48.errors = [{instancePath:instancePath+"/parameters/" + i8,schemaPath:"#/properties/parameters/items/required",keyword:"required",params:{missingProperty: missing5},message:"must have required property '"+missing5+"'"}];
return false;
}
else {
const _errs106 = errors;
for(const key7 in data48){
if(!(((((key7 === "name") || (key7 === "minimum")) || (key7 === "maximum")) || (key7 === "allowed")) || (key7 === "supported"))){
validate48.errors = [{instancePath:instancePath+"/parameters/" + i8,schemaPath:"#/properties/parameters/items/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key7},message:"must NOT have additional properties"}];
return false;
break;
}
}
if(_errs106 === errors){
if(data48.name !== undefined){
let data49 = data48.name;
const _errs107 = errors;
if(errors === _errs107){
if(typeof data49 === "string"){
if(data49.length > 128){
validate48.errors = [{instancePath:instancePath+"/parameters/" + i8+"/name",schemaPath:"#/properties/parameters/items/properties/name/maxLength",keyword:"maxLength",params:{limit: 128},message:"must NOT have more than 128 characters"}];
return false;
}
else {
if(data49.length < 1){
validate48.errors = [{instancePath:instancePath+"/parameters/" + i8+"/name",schemaPath:"#/properties/parameters/items/properties/name/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"}];
return false;
}
}
}
else {
validate48.errors = [{instancePath:instancePath+"/parameters/" + i8+"/name",schemaPath:"#/properties/parameters/items/properties/name/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid25 = _errs107 === errors;
}
else {
var valid25 = true;
}
if(valid25){
if(data48.minimum !== undefined){
const _errs109 = errors;
if(!(typeof data48.minimum == "number")){
validate48.errors = [{instancePath:instancePath+"/parameters/" + i8+"/minimum",schemaPath:"#/properties/parameters/items/properties/minimum/type",keyword:"type",params:{type: "number"},message:"must be number"}];
return false;
}
var valid25 = _errs109 === errors;
}
else {
var valid25 = true;
}
if(valid25){
if(data48.maximum !== undefined){
const _errs111 = errors;
if(!(typeof data48.maximum == "number")){
validate48.errors = [{instancePath:instancePath+"/parameters/" + i8+"/maximum",schemaPath:"#/properties/parameters/items/properties/maximum/type",keyword:"type",params:{type: "number"},message:"must be number"}];
return false;
}
var valid25 = _errs111 === errors;
}
else {
var valid25 = true;
}
if(valid25){
if(data48.allowed !== undefined){
let data52 = data48.allowed;
const _errs113 = errors;
if(errors === _errs113){
if(Array.isArray(data52)){
if(data52.length > 64){
validate48.errors = [{instancePath:instancePath+"/parameters/" + i8+"/allowed",schemaPath:"#/properties/parameters/items/properties/allowed/maxItems",keyword:"maxItems",params:{limit: 64},message:"must NOT have more than 64 items"}];
return false;
}
else {
var valid26 = true;
const len9 = data52.length;
for(let i9=0; i9<len9; i9++){
let data53 = data52[i9];
const _errs115 = errors;
if(errors === _errs115){
if(typeof data53 === "string"){
if(data53.length > 128){
validate48.errors = [{instancePath:instancePath+"/parameters/" + i8+"/allowed/" + i9,schemaPath:"#/properties/parameters/items/properties/allowed/items/maxLength",keyword:"maxLength",params:{limit: 128},message:"must NOT have more than 128 characters"}];
return false;
}
}
else {
validate48.errors = [{instancePath:instancePath+"/parameters/" + i8+"/allowed/" + i9,schemaPath:"#/properties/parameters/items/properties/allowed/items/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid26 = _errs115 === errors;
if(!valid26){
break;
}
}
}
}
else {
validate48.errors = [{instancePath:instancePath+"/parameters/" + i8+"/allowed",schemaPath:"#/properties/parameters/items/properties/allowed/type",keyword:"type",params:{type: "array"},message:"must be array"}];
return false;
}
}
var valid25 = _errs113 === errors;
}
else {
var valid25 = true;
}
if(valid25){
if(data48.supported !== undefined){
const _errs117 = errors;
if(typeof data48.supported !== "boolean"){
validate48.errors = [{instancePath:instancePath+"/parameters/" + i8+"/supported",schemaPath:"#/properties/parameters/items/properties/supported/type",keyword:"type",params:{type: "boolean"},message:"must be boolean"}];
return false;
}
var valid25 = _errs117 === errors;
}
else {
var valid25 = true;
}
}
}
}
}
}
}
}
else {
validate48.errors = [{instancePath:instancePath+"/parameters/" + i8,schemaPath:"#/properties/parameters/items/type",keyword:"type",params:{type: "object"},message:"must be object"}];
return false;
}
}
var valid24 = _errs104 === errors;
if(!valid24){
break;
}
}
}
}
else {
validate48.errors = [{instancePath:instancePath+"/parameters",schemaPath:"#/properties/parameters/type",keyword:"type",params:{type: "array"},message:"must be array"}];
return false;
}
}
var valid0 = _errs102 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.price !== undefined){
let data55 = data.price;
const _errs119 = errors;
if(errors === _errs119){
if(data55 && typeof data55 == "object" && !Array.isArray(data55)){
const _errs121 = errors;
for(const key8 in data55){
if(!(func2.call(schema54.properties.price.properties, key8))){
validate48.errors = [{instancePath:instancePath+"/price",schemaPath:"#/properties/price/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key8},message:"must NOT have additional properties"}];
return false;
break;
}
}
if(_errs121 === errors){
if(data55.input !== undefined){
let data56 = data55.input;
const _errs122 = errors;
const _errs123 = errors;
if(errors === _errs123){
if(typeof data56 === "string"){
if(!pattern6.test(data56)){
validate48.errors = [{instancePath:instancePath+"/price/input",schemaPath:"#/definitions/amount/pattern",keyword:"pattern",params:{pattern: "^[0-9]{1,19}$"},message:"must match pattern \""+"^[0-9]{1,19}$"+"\""}];
return false;
}
}
else {
validate48.errors = [{instancePath:instancePath+"/price/input",schemaPath:"#/definitions/amount/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid27 = _errs122 === errors;
}
else {
var valid27 = true;
}
if(valid27){
if(data55.cachedInput !== undefined){
let data57 = data55.cachedInput;
const _errs125 = errors;
const _errs126 = errors;
if(errors === _errs126){
if(typeof data57 === "string"){
if(!pattern6.test(data57)){
validate48.errors = [{instancePath:instancePath+"/price/cachedInput",schemaPath:"#/definitions/amount/pattern",keyword:"pattern",params:{pattern: "^[0-9]{1,19}$"},message:"must match pattern \""+"^[0-9]{1,19}$"+"\""}];
return false;
}
}
else {
validate48.errors = [{instancePath:instancePath+"/price/cachedInput",schemaPath:"#/definitions/amount/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid27 = _errs125 === errors;
}
else {
var valid27 = true;
}
if(valid27){
if(data55.cacheWrite !== undefined){
let data58 = data55.cacheWrite;
const _errs128 = errors;
const _errs129 = errors;
if(errors === _errs129){
if(typeof data58 === "string"){
if(!pattern6.test(data58)){
validate48.errors = [{instancePath:instancePath+"/price/cacheWrite",schemaPath:"#/definitions/amount/pattern",keyword:"pattern",params:{pattern: "^[0-9]{1,19}$"},message:"must match pattern \""+"^[0-9]{1,19}$"+"\""}];
return false;
}
}
else {
validate48.errors = [{instancePath:instancePath+"/price/cacheWrite",schemaPath:"#/definitions/amount/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid27 = _errs128 === errors;
}
else {
var valid27 = true;
}
if(valid27){
if(data55.cacheWrite1h !== undefined){
let data59 = data55.cacheWrite1h;
const _errs131 = errors;
const _errs132 = errors;
if(errors === _errs132){
if(typeof data59 === "string"){
if(!pattern6.test(data59)){
validate48.errors = [{instancePath:instancePath+"/price/cacheWrite1h",schemaPath:"#/definitions/amount/pattern",keyword:"pattern",params:{pattern: "^[0-9]{1,19}$"},message:"must match pattern \""+"^[0-9]{1,19}$"+"\""}];
return false;
}
}
else {
validate48.errors = [{instancePath:instancePath+"/price/cacheWrite1h",schemaPath:"#/definitions/amount/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid27 = _errs131 === errors;
}
else {
var valid27 = true;
}
if(valid27){
if(data55.output !== undefined){
let data60 = data55.output;
const _errs134 = errors;
const _errs135 = errors;
if(errors === _errs135){
if(typeof data60 === "string"){
if(!pattern6.test(data60)){
validate48.errors = [{instancePath:instancePath+"/price/output",schemaPath:"#/definitions/amount/pattern",keyword:"pattern",params:{pattern: "^[0-9]{1,19}$"},message:"must match pattern \""+"^[0-9]{1,19}$"+"\""}];
return false;
}
}
else {
validate48.errors = [{instancePath:instancePath+"/price/output",schemaPath:"#/definitions/amount/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid27 = _errs134 === errors;
}
else {
var valid27 = true;
}
if(valid27){
if(data55.reasoning !== undefined){
let data61 = data55.reasoning;
const _errs137 = errors;
const _errs138 = errors;
if(errors === _errs138){
if(typeof data61 === "string"){
if(!pattern6.test(data61)){
validate48.errors = [{instancePath:instancePath+"/price/reasoning",schemaPath:"#/definitions/amount/pattern",keyword:"pattern",params:{pattern: "^[0-9]{1,19}$"},message:"must match pattern \""+"^[0-9]{1,19}$"+"\""}];
return false;
}
}
else {
validate48.errors = [{instancePath:instancePath+"/price/reasoning",schemaPath:"#/definitions/amount/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid27 = _errs137 === errors;
}
else {
var valid27 = true;
}
if(valid27){
if(data55.audioInput !== undefined){
let data62 = data55.audioInput;
const _errs140 = errors;
const _errs141 = errors;
if(errors === _errs141){
if(typeof data62 === "string"){
if(!pattern6.test(data62)){
validate48.errors = [{instancePath:instancePath+"/price/audioInput",schemaPath:"#/definitions/amount/pattern",keyword:"pattern",params:{pattern: "^[0-9]{1,19}$"},message:"must match pattern \""+"^[0-9]{1,19}$"+"\""}];
return false;
}
}
else {
validate48.errors = [{instancePath:instancePath+"/price/audioInput",schemaPath:"#/definitions/amount/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid27 = _errs140 === errors;
}
else {
var valid27 = true;
}
if(valid27){
if(data55.audioOutput !== undefined){
let data63 = data55.audioOutput;
const _errs143 = errors;
const _errs144 = errors;
if(errors === _errs144){
if(typeof data63 === "string"){
if(!pattern6.test(data63)){
validate48.errors = [{instancePath:instancePath+"/price/audioOutput",schemaPath:"#/definitions/amount/pattern",keyword:"pattern",params:{pattern: "^[0-9]{1,19}$"},message:"must match pattern \""+"^[0-9]{1,19}$"+"\""}];
return false;
}
}
else {
validate48.errors = [{instancePath:instancePath+"/price/audioOutput",schemaPath:"#/definitions/amount/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid27 = _errs143 === errors;
}
else {
var valid27 = true;
}
if(valid27){
if(data55.imageInput !== undefined){
let data64 = data55.imageInput;
const _errs146 = errors;
const _errs147 = errors;
if(errors === _errs147){
if(typeof data64 === "string"){
if(!pattern6.test(data64)){
validate48.errors = [{instancePath:instancePath+"/price/imageInput",schemaPath:"#/definitions/amount/pattern",keyword:"pattern",params:{pattern: "^[0-9]{1,19}$"},message:"must match pattern \""+"^[0-9]{1,19}$"+"\""}];
return false;
}
}
else {
validate48.errors = [{instancePath:instancePath+"/price/imageInput",schemaPath:"#/definitions/amount/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid27 = _errs146 === errors;
}
else {
var valid27 = true;
}
if(valid27){
if(data55.imageOutput !== undefined){
let data65 = data55.imageOutput;
const _errs149 = errors;
const _errs150 = errors;
if(errors === _errs150){
if(typeof data65 === "string"){
if(!pattern6.test(data65)){
validate48.errors = [{instancePath:instancePath+"/price/imageOutput",schemaPath:"#/definitions/amount/pattern",keyword:"pattern",params:{pattern: "^[0-9]{1,19}$"},message:"must match pattern \""+"^[0-9]{1,19}$"+"\""}];
return false;
}
}
else {
validate48.errors = [{instancePath:instancePath+"/price/imageOutput",schemaPath:"#/definitions/amount/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid27 = _errs149 === errors;
}
else {
var valid27 = true;
}
if(valid27){
if(data55.characters !== undefined){
let data66 = data55.characters;
const _errs152 = errors;
const _errs153 = errors;
if(errors === _errs153){
if(typeof data66 === "string"){
if(!pattern6.test(data66)){
validate48.errors = [{instancePath:instancePath+"/price/characters",schemaPath:"#/definitions/amount/pattern",keyword:"pattern",params:{pattern: "^[0-9]{1,19}$"},message:"must match pattern \""+"^[0-9]{1,19}$"+"\""}];
return false;
}
}
else {
validate48.errors = [{instancePath:instancePath+"/price/characters",schemaPath:"#/definitions/amount/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid27 = _errs152 === errors;
}
else {
var valid27 = true;
}
if(valid27){
if(data55.request !== undefined){
let data67 = data55.request;
const _errs155 = errors;
const _errs156 = errors;
if(errors === _errs156){
if(typeof data67 === "string"){
if(!pattern6.test(data67)){
validate48.errors = [{instancePath:instancePath+"/price/request",schemaPath:"#/definitions/amount/pattern",keyword:"pattern",params:{pattern: "^[0-9]{1,19}$"},message:"must match pattern \""+"^[0-9]{1,19}$"+"\""}];
return false;
}
}
else {
validate48.errors = [{instancePath:instancePath+"/price/request",schemaPath:"#/definitions/amount/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid27 = _errs155 === errors;
}
else {
var valid27 = true;
}
if(valid27){
if(data55.audioMinute !== undefined){
let data68 = data55.audioMinute;
const _errs158 = errors;
const _errs159 = errors;
if(errors === _errs159){
if(typeof data68 === "string"){
if(!pattern6.test(data68)){
validate48.errors = [{instancePath:instancePath+"/price/audioMinute",schemaPath:"#/definitions/amount/pattern",keyword:"pattern",params:{pattern: "^[0-9]{1,19}$"},message:"must match pattern \""+"^[0-9]{1,19}$"+"\""}];
return false;
}
}
else {
validate48.errors = [{instancePath:instancePath+"/price/audioMinute",schemaPath:"#/definitions/amount/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid27 = _errs158 === errors;
}
else {
var valid27 = true;
}
if(valid27){
if(data55.search !== undefined){
let data69 = data55.search;
const _errs161 = errors;
const _errs162 = errors;
if(errors === _errs162){
if(typeof data69 === "string"){
if(!pattern6.test(data69)){
validate48.errors = [{instancePath:instancePath+"/price/search",schemaPath:"#/definitions/amount/pattern",keyword:"pattern",params:{pattern: "^[0-9]{1,19}$"},message:"must match pattern \""+"^[0-9]{1,19}$"+"\""}];
return false;
}
}
else {
validate48.errors = [{instancePath:instancePath+"/price/search",schemaPath:"#/definitions/amount/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid27 = _errs161 === errors;
}
else {
var valid27 = true;
}
if(valid27){
if(data55.images !== undefined){
let data70 = data55.images;
const _errs164 = errors;
if(errors === _errs164){
if(Array.isArray(data70)){
if(data70.length > 64){
validate48.errors = [{instancePath:instancePath+"/price/images",schemaPath:"#/properties/price/properties/images/maxItems",keyword:"maxItems",params:{limit: 64},message:"must NOT have more than 64 items"}];
return false;
}
else {
var valid42 = true;
const len10 = data70.length;
for(let i10=0; i10<len10; i10++){
let data71 = data70[i10];
const _errs166 = errors;
if(errors === _errs166){
if(data71 && typeof data71 == "object" && !Array.isArray(data71)){
let missing6;
if((data71.price === undefined) && (missing6 = "price")){
validate48.errors = [{instancePath:instancePath+"/price/images/" + i10,schemaPath:"#/properties/price/properties/images/items/required",keyword:"required",params:{missingProperty: missing6},message:"must have required property '"+missing6+"'"}];
return false;
}
else {
const _errs168 = errors;
for(const key9 in data71){
if(!(((key9 === "size") || (key9 === "quality")) || (key9 === "price"))){
validate48.errors = [{instancePath:instancePath+"/price/images/" + i10,schemaPath:"#/properties/price/properties/images/items/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key9},message:"must NOT have additional properties"}];
return false;
break;
}
}
if(_errs168 === errors){
if(data71.size !== undefined){
const _errs169 = errors;
if(typeof data71.size !== "string"){
validate48.errors = [{instancePath:instancePath+"/price/images/" + i10+"/size",schemaPath:"#/properties/price/properties/images/items/properties/size/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
var valid43 = _errs169 === errors;
}
else {
var valid43 = true;
}
if(valid43){
if(data71.quality !== undefined){
const _errs171 = errors;
if(typeof data71.quality !== "string"){
validate48.errors = [{instancePath:instancePath+"/price/images/" + i10+"/quality",schemaPath:"#/properties/price/properties/images/items/properties/quality/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
var valid43 = _errs171 === errors;
}
else {
var valid43 = true;
}
if(valid43){
if(data71.price !== undefined){
let data74 = data71.price;
const _errs173 = errors;
const _errs174 = errors;
if(errors === _errs174){
if(typeof data74 === "string"){
if(!pattern6.test(data74)){
validate48.errors = [{instancePath:instancePath+"/price/images/" + i10+"/price",schemaPath:"#/definitions/amount/pattern",keyword:"pattern",params:{pattern: "^[0-9]{1,19}$"},message:"must match pattern \""+"^[0-9]{1,19}$"+"\""}];
return false;
}
}
else {
validate48.errors = [{instancePath:instancePath+"/price/images/" + i10+"/price",schemaPath:"#/definitions/amount/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid43 = _errs173 === errors;
}
else {
var valid43 = true;
}
}
}
}
}
}
else {
validate48.errors = [{instancePath:instancePath+"/price/images/" + i10,schemaPath:"#/properties/price/properties/images/items/type",keyword:"type",params:{type: "object"},message:"must be object"}];
return false;
}
}
var valid42 = _errs166 === errors;
if(!valid42){
break;
}
}
}
}
else {
validate48.errors = [{instancePath:instancePath+"/price/images",schemaPath:"#/properties/price/properties/images/type",keyword:"type",params:{type: "array"},message:"must be array"}];
return false;
}
}
var valid27 = _errs164 === errors;
}
else {
var valid27 = true;
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
else {
validate48.errors = [{instancePath:instancePath+"/price",schemaPath:"#/properties/price/type",keyword:"type",params:{type: "object"},message:"must be object"}];
return false;
}
}
var valid0 = _errs119 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
else {
validate48.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"}];
return false;
}
}
validate48.errors = vErrors;
return errors === 0;
}

export const fleet = validate52;
const schema79 = {"type":"object","additionalProperties":false,"required":["kind","name","requireAccount","unboundedOutput","inputEstimate","defaultOutputReserve","revocation","egressAllowCIDRs"],"description":"Settings of the fleet that every proxy enforces alike (`setting/fleet`).","properties":{"kind":{"const":"fleet"},"name":{"const":"fleet"},"requireAccount":{"type":"boolean"},"unboundedOutput":{"enum":["Reserve","Cap"]},"inputEstimate":{"enum":["Estimate","Upper"]},"defaultOutputReserve":{"type":"integer","minimum":1,"maximum":10000000},"revocation":{"enum":["Finish","Immediate"]},"egressAllowCIDRs":{"type":"array","maxItems":256,"items":{"type":"string","maxLength":64}}}};

function validate52(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((((((((data.kind === undefined) && (missing0 = "kind")) || ((data.name === undefined) && (missing0 = "name"))) || ((data.requireAccount === undefined) && (missing0 = "requireAccount"))) || ((data.unboundedOutput === undefined) && (missing0 = "unboundedOutput"))) || ((data.inputEstimate === undefined) && (missing0 = "inputEstimate"))) || ((data.defaultOutputReserve === undefined) && (missing0 = "defaultOutputReserve"))) || ((data.revocation === undefined) && (missing0 = "revocation"))) || ((data.egressAllowCIDRs === undefined) && (missing0 = "egressAllowCIDRs"))){
validate52.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'"}];
return false;
}
else {
const _errs1 = errors;
for(const key0 in data){
if(!((((((((key0 === "kind") || (key0 === "name")) || (key0 === "requireAccount")) || (key0 === "unboundedOutput")) || (key0 === "inputEstimate")) || (key0 === "defaultOutputReserve")) || (key0 === "revocation")) || (key0 === "egressAllowCIDRs"))){
validate52.errors = [{instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties"}];
return false;
break;
}
}
if(_errs1 === errors){
if(data.kind !== undefined){
const _errs2 = errors;
if("fleet" !== data.kind){
validate52.errors = [{instancePath:instancePath+"/kind",schemaPath:"#/properties/kind/const",keyword:"const",params:{allowedValue: "fleet"},message:"must be equal to constant"}];
return false;
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.name !== undefined){
const _errs3 = errors;
if("fleet" !== data.name){
validate52.errors = [{instancePath:instancePath+"/name",schemaPath:"#/properties/name/const",keyword:"const",params:{allowedValue: "fleet"},message:"must be equal to constant"}];
return false;
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.requireAccount !== undefined){
const _errs4 = errors;
if(typeof data.requireAccount !== "boolean"){
validate52.errors = [{instancePath:instancePath+"/requireAccount",schemaPath:"#/properties/requireAccount/type",keyword:"type",params:{type: "boolean"},message:"must be boolean"}];
return false;
}
var valid0 = _errs4 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.unboundedOutput !== undefined){
let data3 = data.unboundedOutput;
const _errs6 = errors;
if(!((data3 === "Reserve") || (data3 === "Cap"))){
validate52.errors = [{instancePath:instancePath+"/unboundedOutput",schemaPath:"#/properties/unboundedOutput/enum",keyword:"enum",params:{allowedValues: schema79.properties.unboundedOutput.enum},message:"must be equal to one of the allowed values"}];
return false;
}
var valid0 = _errs6 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.inputEstimate !== undefined){
let data4 = data.inputEstimate;
const _errs7 = errors;
if(!((data4 === "Estimate") || (data4 === "Upper"))){
validate52.errors = [{instancePath:instancePath+"/inputEstimate",schemaPath:"#/properties/inputEstimate/enum",keyword:"enum",params:{allowedValues: schema79.properties.inputEstimate.enum},message:"must be equal to one of the allowed values"}];
return false;
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.defaultOutputReserve !== undefined){
let data5 = data.defaultOutputReserve;
const _errs8 = errors;
if(!((typeof data5 == "number") && (!(data5 % 1) && !isNaN(data5)))){
validate52.errors = [{instancePath:instancePath+"/defaultOutputReserve",schemaPath:"#/properties/defaultOutputReserve/type",keyword:"type",params:{type: "integer"},message:"must be integer"}];
return false;
}
if(errors === _errs8){
if(typeof data5 == "number"){
if(data5 > 10000000 || isNaN(data5)){
validate52.errors = [{instancePath:instancePath+"/defaultOutputReserve",schemaPath:"#/properties/defaultOutputReserve/maximum",keyword:"maximum",params:{comparison: "<=", limit: 10000000},message:"must be <= 10000000"}];
return false;
}
else {
if(data5 < 1 || isNaN(data5)){
validate52.errors = [{instancePath:instancePath+"/defaultOutputReserve",schemaPath:"#/properties/defaultOutputReserve/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1"}];
return false;
}
}
}
}
var valid0 = _errs8 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.revocation !== undefined){
let data6 = data.revocation;
const _errs10 = errors;
if(!((data6 === "Finish") || (data6 === "Immediate"))){
validate52.errors = [{instancePath:instancePath+"/revocation",schemaPath:"#/properties/revocation/enum",keyword:"enum",params:{allowedValues: schema79.properties.revocation.enum},message:"must be equal to one of the allowed values"}];
return false;
}
var valid0 = _errs10 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.egressAllowCIDRs !== undefined){
let data7 = data.egressAllowCIDRs;
const _errs11 = errors;
if(errors === _errs11){
if(Array.isArray(data7)){
if(data7.length > 256){
validate52.errors = [{instancePath:instancePath+"/egressAllowCIDRs",schemaPath:"#/properties/egressAllowCIDRs/maxItems",keyword:"maxItems",params:{limit: 256},message:"must NOT have more than 256 items"}];
return false;
}
else {
var valid1 = true;
const len0 = data7.length;
for(let i0=0; i0<len0; i0++){
let data8 = data7[i0];
const _errs13 = errors;
if(errors === _errs13){
if(typeof data8 === "string"){
if(data8.length > 64){
validate52.errors = [{instancePath:instancePath+"/egressAllowCIDRs/" + i0,schemaPath:"#/properties/egressAllowCIDRs/items/maxLength",keyword:"maxLength",params:{limit: 64},message:"must NOT have more than 64 characters"}];
return false;
}
}
else {
validate52.errors = [{instancePath:instancePath+"/egressAllowCIDRs/" + i0,schemaPath:"#/properties/egressAllowCIDRs/items/type",keyword:"type",params:{type: "string"},message:"must be string"}];
return false;
}
}
var valid1 = _errs13 === errors;
if(!valid1){
break;
}
}
}
}
else {
validate52.errors = [{instancePath:instancePath+"/egressAllowCIDRs",schemaPath:"#/properties/egressAllowCIDRs/type",keyword:"type",params:{type: "array"},message:"must be array"}];
return false;
}
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
}
}
else {
validate52.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"}];
return false;
}
}
validate52.errors = vErrors;
return errors === 0;
}
