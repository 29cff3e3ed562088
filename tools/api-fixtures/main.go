// Command api-fixtures answers questions about Kubernetes semantics with Kubernetes' own libraries.
//
// It reads one JSON question per line on standard input and writes one JSON answer per line on standard output:
//
//	{"ask":"quantity","text":"1000m"}  ->  {"ok":"1", ...}  or  {"error":"..."}
//
// The recorded answers are committed as fixtures beside the TypeScript code they check; README.md says how.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"sort"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/api/validation/path"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/util/jsonpath"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

type question struct {
	Ask              string            `json:"ask"`
	Text             string            `json:"text"`
	Other            string            `json:"other"`
	Labels           map[string]string `json:"labels"`
	Document         json.RawMessage   `json:"document"`
	Patch            json.RawMessage   `json:"patch"`
	Kind             string            `json:"kind"`
	Rule             string            `json:"rule"`
	Namespaced       bool              `json:"namespaced"`
	AllowMissingKeys bool              `json:"allowMissingKeys"`
}

type answer map[string]any

func main() {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for {
		line, err := in.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			if err := encoder.Encode(safely(line)); err != nil {
				panic(err)
			}
		}
		if err != nil {
			break
		}
		out.Flush()
	}
	out.Flush()
}

// safely turns a panic of a library into an answer, because some questions are meant to be hostile.
func safely(line []byte) (a answer) {
	defer func() {
		if r := recover(); r != nil {
			a = answer{"panic": fmt.Sprint(r)}
		}
	}()
	var q question
	if err := json.Unmarshal(line, &q); err != nil {
		return answer{"error": "bad question: " + err.Error()}
	}
	return reply(q)
}

func reply(q question) answer {
	switch q.Ask {
	case "quantity":
		return askQuantity(q)
	case "quantities":
		return askQuantities(q)
	case "labels":
		return askLabels(q)
	case "fields":
		return askFields(q)
	case "labelSelector":
		return askLabelSelector(q)
	case "jsonpath":
		return askJSONPath(q)
	case "jsonPatch":
		return askJSONPatch(q)
	case "mergePatch":
		return result(jsonpatch.MergePatch(q.Document, q.Patch))
	case "strategic":
		return askStrategic(q)
	case "yaml":
		return result(yaml.YAMLToJSON([]byte(q.Text)))
	case "toYaml":
		text, err := yaml.JSONToYAML(q.Document)
		if err != nil {
			return failed(err)
		}
		return answer{"ok": string(text)}
	case "strictJson":
		return askStrictJSON(q)
	case "metadata":
		return askMetadata(q)
	case "metadataUpdate":
		return askMetadataUpdate(q)
	}
	return answer{"error": "unknown question " + q.Ask}
}

func failed(err error) answer { return answer{"error": err.Error()} }

func result(raw []byte, err error) answer {
	if err != nil {
		return failed(err)
	}
	return answer{"ok": json.RawMessage(raw)}
}

func askQuantity(q question) answer {
	var quantity resource.Quantity
	if err := quantity.UnmarshalJSON([]byte(q.Text)); err != nil {
		return failed(err)
	}
	canonical := quantity.String()
	computed, suffix := quantity.CanonicalizeBytes(nil)
	return answer{
		"ok": canonical, "computed": string(computed) + string(suffix), "format": quantity.Format,
		"value": fmt.Sprint(quantity.Value()), "milli": fmt.Sprint(quantity.MilliValue()),
	}
}

func askQuantities(q question) answer {
	a, err := resource.ParseQuantity(q.Text)
	if err != nil {
		return failed(err)
	}
	b, err := resource.ParseQuantity(q.Other)
	if err != nil {
		return failed(err)
	}
	sum, difference := a.DeepCopy(), a.DeepCopy()
	sum.Add(b)
	difference.Sub(b)
	return answer{"compare": a.Cmp(b), "sum": sum.String(), "difference": difference.String()}
}

func askLabels(q question) answer {
	selector, err := labels.Parse(q.Text)
	if err != nil {
		return failed(err)
	}
	return answer{"ok": selector.String(), "matches": selector.Matches(labels.Set(q.Labels))}
}

func askFields(q question) answer {
	selector, err := fields.ParseSelector(q.Text)
	if err != nil {
		return failed(err)
	}
	return answer{"ok": selector.String(), "matches": selector.Matches(fields.Set(q.Labels))}
}

func askLabelSelector(q question) answer {
	var selector metav1.LabelSelector
	if err := json.Unmarshal(q.Document, &selector); err != nil {
		return failed(err)
	}
	errs := metav1validation.ValidateLabelSelector(&selector, metav1validation.LabelSelectorValidationOptions{}, field.NewPath("spec", "selector"))
	a := answer{"errors": describe(errs)}
	if converted, err := metav1.LabelSelectorAsSelector(&selector); err == nil {
		a["ok"] = converted.String()
		a["matches"] = converted.Matches(labels.Set(q.Labels))
	}
	return a
}

func askJSONPath(q question) answer {
	parser := jsonpath.New("fixture").AllowMissingKeys(q.AllowMissingKeys)
	if err := parser.Parse(q.Text); err != nil {
		return answer{"parseError": err.Error()}
	}
	var document any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(q.Document, &document); err != nil {
		return failed(err)
	}
	var buffer bytes.Buffer
	if err := parser.Execute(&buffer, document); err != nil {
		return failed(err)
	}
	return answer{"ok": buffer.String()}
}

func askJSONPatch(q question) answer {
	patch, err := jsonpatch.DecodePatch(q.Patch)
	if err != nil {
		return answer{"decodeError": err.Error()}
	}
	return result(patch.Apply(q.Document))
}

func askStrategic(q question) answer {
	var kind any
	switch q.Kind {
	case "Deployment":
		kind = appsv1.Deployment{}
	case "Pod":
		kind = corev1.Pod{}
	case "Service":
		kind = corev1.Service{}
	case "ServiceAccount":
		kind = corev1.ServiceAccount{}
	default:
		return answer{"error": "unknown kind"}
	}
	schema, err := strategicpatch.NewPatchMetaFromStruct(kind)
	if err != nil {
		return failed(err)
	}
	var document, patch map[string]any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(q.Document, &document); err != nil {
		return failed(err)
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(q.Patch, &patch); err != nil {
		return failed(err)
	}
	merged, err := strategicpatch.StrategicMergeMapPatchUsingLookupPatchMeta(document, patch, schema)
	if err != nil {
		return failed(err)
	}
	return answer{"ok": merged}
}

func askStrictJSON(q question) answer {
	var value any
	if q.Kind == "" {
		value = &map[string]any{}
	} else {
		value = &appsv1.Deployment{}
	}
	strict, err := kjson.UnmarshalStrict([]byte(q.Text), value)
	if err != nil {
		return failed(err)
	}
	messages := []string{}
	for _, e := range strict {
		messages = append(messages, e.Error())
	}
	return answer{"ok": messages}
}

func nameRule(rule string) apivalidation.ValidateNameFunc {
	switch rule {
	case "dnsLabel":
		return apivalidation.NameIsDNSLabel
	case "dns1035Label":
		return apivalidation.NameIsDNS1035Label
	case "pathSegment":
		return path.ValidatePathSegmentName
	}
	return apivalidation.NameIsDNSSubdomain
}

func askMetadata(q question) answer {
	var meta metav1.ObjectMeta
	if err := json.Unmarshal(q.Document, &meta); err != nil {
		return failed(err)
	}
	return answer{"errors": describe(apivalidation.ValidateObjectMeta(&meta, q.Namespaced, nameRule(q.Rule), field.NewPath("metadata")))}
}

func askMetadataUpdate(q question) answer {
	var meta, old metav1.ObjectMeta
	if err := json.Unmarshal(q.Document, &meta); err != nil {
		return failed(err)
	}
	if err := json.Unmarshal(q.Patch, &old); err != nil {
		return failed(err)
	}
	return answer{"errors": describe(apivalidation.ValidateObjectMetaUpdate(&meta, &old, field.NewPath("metadata")))}
}

// describe sorts, because the libraries walk Go maps in random order.
func describe(errs field.ErrorList) []string {
	messages := []string{}
	for _, e := range errs {
		messages = append(messages, string(e.Type)+": "+e.Error())
	}
	sort.Strings(messages)
	return messages
}
