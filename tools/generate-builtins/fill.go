package main

import (
	"fmt"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/randfill"
)

// sampledKinds are the kinds of which the repository holds samples: what typed clients send, and every special type.
var sampledKinds = []schema.GroupVersionKind{
	{Version: "v1", Kind: "ConfigMap"},
	{Version: "v1", Kind: "Event"},
	{Version: "v1", Kind: "Namespace"},
	{Version: "v1", Kind: "Node"},
	{Version: "v1", Kind: "PersistentVolumeClaim"},
	{Version: "v1", Kind: "Pod"},
	{Version: "v1", Kind: "ResourceQuota"},
	{Version: "v1", Kind: "Secret"},
	{Version: "v1", Kind: "Service"},
	{Version: "v1", Kind: "ServiceAccount"},
	{Group: "apps", Version: "v1", Kind: "ControllerRevision"},
	{Group: "apps", Version: "v1", Kind: "DeleteOptions"},
	{Group: "apps", Version: "v1", Kind: "Deployment"},
	{Group: "batch", Version: "v1", Kind: "CronJob"},
	{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler"},
	{Group: "networking.k8s.io", Version: "v1", Kind: "Ingress"},
	{Group: "networking.k8s.io", Version: "v1", Kind: "NetworkPolicy"},
	{Group: "policy", Version: "v1", Kind: "PodDisruptionBudget"},
	{Group: "policy", Version: "v1", Kind: "Eviction"},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "Role"},
	{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease"},
	{Group: "discovery.k8s.io", Version: "v1", Kind: "EndpointSlice"},
	{Group: "events.k8s.io", Version: "v1", Kind: "Event"},
	{Group: "authentication.k8s.io", Version: "v1", Kind: "TokenRequest"},
	{Group: "authentication.k8s.io", Version: "v1", Kind: "TokenReview"},
	{Group: "authorization.k8s.io", Version: "v1", Kind: "SelfSubjectAccessReview"},
	{Group: "authorization.k8s.io", Version: "v1", Kind: "SubjectAccessReview"},
	{Group: "certificates.k8s.io", Version: "v1", Kind: "CertificateSigningRequest"},
	{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "ValidatingAdmissionPolicy"},
	{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"},
	{Group: "apiregistration.k8s.io", Version: "v1", Kind: "APIService"},
}

// maxSafe is the largest whole number that is exact in JSON as JavaScript reads it.
const maxSafe = 1<<53 - 1

// newFiller fills objects at random: half of what may be absent is, and numbers stay exact in JavaScript.
func newFiller(seed int64) *randfill.Filler {
	return randfill.NewWithSeed(seed).NilChance(0.5).NumElements(0, 2).MaxDepth(40).Funcs(
		func(s *string, c randfill.Continue) { *s = randomString(c) },
		func(n *int64, c randfill.Continue) { *n = c.Int63n(maxSafe) - c.Int63n(maxSafe) },
		func(t *metav1.TypeMeta, c randfill.Continue) {},
		func(t *metav1.Time, c randfill.Continue) {
			if c.Bool() {
				t.Time = time.Unix(c.Int63n(4e9), 0)
			}
		},
		func(t *metav1.MicroTime, c randfill.Continue) {
			if c.Bool() {
				t.Time = time.UnixMicro(c.Int63n(4e15))
			}
		},
		// A pointer to the zero time would be written as null and read as absent.
		func(t **metav1.Time, c randfill.Continue) {
			if c.Bool() {
				*t = &metav1.Time{Time: time.Unix(c.Int63n(4e9), 0)}
			}
		},
		func(t **metav1.MicroTime, c randfill.Continue) {
			if c.Bool() {
				*t = &metav1.MicroTime{Time: time.UnixMicro(c.Int63n(4e15))}
			}
		},
		func(q *resource.Quantity, c randfill.Continue) {
			formats := []resource.Format{resource.DecimalSI, resource.BinarySI}
			*q = *resource.NewQuantity(c.Int63n(1e12), formats[c.Intn(2)])
		},
		func(v *intstr.IntOrString, c randfill.Continue) {
			if c.Bool() {
				*v = intstr.FromInt32(int32(c.Intn(65536)))
			} else {
				*v = intstr.FromString(randomString(c))
			}
		},
		func(r *runtime.RawExtension, c randfill.Continue) { r.Raw = randomJSON(c) },
		func(f *metav1.FieldsV1, c randfill.Continue) { f.SetRawBytes([]byte(`{"f:a":{}}`)) },
		func(j *apiextensionsv1.JSON, c randfill.Continue) { j.Raw = randomJSON(c) },
		fillSchema,
	)
}

// fillSchema keeps the type that refers to itself small.
func fillSchema(s *apiextensionsv1.JSONSchemaProps, c randfill.Continue) {
	s.Type = randomString(c)
	c.Fill(&s.Default)
	c.Fill(&s.Maximum)
	c.Fill(&s.MaxLength)
	c.Fill(&s.Enum)
	c.Fill(&s.XValidations)
	c.Fill(&s.XListMapKeys)
	if c.Intn(3) > 0 {
		return
	}
	s.Properties = map[string]apiextensionsv1.JSONSchemaProps{}
	for range c.Intn(3) {
		child := apiextensionsv1.JSONSchemaProps{}
		fillSchema(&child, c)
		s.Properties[randomString(c)] = child
	}
	child := &apiextensionsv1.JSONSchemaProps{}
	fillSchema(child, c)
	s.Items = &apiextensionsv1.JSONSchemaPropsOrArray{Schema: child}
	s.AdditionalProperties = &apiextensionsv1.JSONSchemaPropsOrBool{Allows: c.Bool()}
	s.Dependencies = apiextensionsv1.JSONSchemaDependencies{"a": {Property: []string{randomString(c) + "x"}}, "b": {Schema: child}}
}

var alphabet = []rune("abcXYZ019 -_./é世🙂\"\\\n")

func randomString(c randfill.Continue) string {
	text := make([]rune, c.Intn(8))
	for i := range text {
		text[i] = alphabet[c.Intn(len(alphabet))]
	}
	return string(text)
}

func randomJSON(c randfill.Continue) []byte {
	return fmt.Appendf(nil, `{"a":[%d,null,true],"b":{"c":"d"}}`, c.Intn(1000))
}
