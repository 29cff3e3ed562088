package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	kjson "sigs.k8s.io/json"
)

// normalizeSample is what becomes of one JSON body: decoded as the API server decodes it, sent through storage, encoded.
type normalizeSample struct {
	Name          string          `json:"name"`
	Body          json.RawMessage `json:"body"`
	Object        json.RawMessage `json:"object,omitempty"`
	UnknownFields []string        `json:"unknownFields,omitempty"`
	Message       string          `json:"message,omitempty"`
}

// protobufSample is one object in both forms.
type protobufSample struct {
	Name     string          `json:"name"`
	Protobuf []byte          `json:"protobuf"`
	Object   json.RawMessage `json:"object"`
}

// writeSamples answers the bodies of fixtures/bodies.json, and fills objects of the kinds in sampledKinds at random.
func writeSamples(dir string) error {
	scheme, err := newScheme()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	normalized, err := normalizeBodies(scheme, "fixtures/bodies.json")
	if err != nil {
		return err
	}
	if err := writeSampleFile(filepath.Join(dir, "normalize.json"), normalized); err != nil {
		return err
	}
	filled, err := fillKinds(scheme, sampledKinds, 1)
	if err != nil {
		return err
	}
	return writeSampleFile(filepath.Join(dir, "protobuf.json"), filled)
}

// writeManySamples fills every kind many times: more than a repository should hold, for checking by hand.
func writeManySamples(file string) error {
	scheme, err := newScheme()
	if err != nil {
		return err
	}
	var kinds []schema.GroupVersionKind
	for _, gv := range groupVersions {
		for kind, t := range scheme.KnownTypes(gv) {
			if isServedKind(kind, t) {
				kinds = append(kinds, gv.WithKind(kind))
			}
		}
	}
	filled, err := fillKinds(scheme, kinds, 20)
	if err != nil {
		return err
	}
	return writeSampleFile(file, filled)
}

func normalizeBodies(scheme *runtime.Scheme, file string) ([]normalizeSample, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var samples []normalizeSample
	if err := json.Unmarshal(text, &samples); err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, err)
	}
	for i := range samples {
		if err := normalizeBody(scheme, &samples[i]); err != nil {
			return nil, fmt.Errorf("normalizing %q: %w", samples[i].Name, err)
		}
	}
	return samples, nil
}

func normalizeBody(scheme *runtime.Scheme, sample *normalizeSample) error {
	var head struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	}
	if err := json.Unmarshal(sample.Body, &head); err != nil {
		return err
	}
	object, err := scheme.New(schema.FromAPIVersionAndKind(head.APIVersion, head.Kind))
	if err != nil {
		return err
	}
	strict, err := kjson.UnmarshalStrict(sample.Body, object, kjson.DisallowUnknownFields)
	if err != nil {
		sample.Message = err.Error()
		return nil
	}
	for _, problem := range strict {
		var field kjson.FieldError
		if !errors.As(problem, &field) {
			return problem
		}
		sample.UnknownFields = append(sample.UnknownFields, field.FieldPath())
	}
	stored, err := throughStorage(object)
	if err != nil {
		return err
	}
	stored.GetObjectKind().SetGroupVersionKind(schema.FromAPIVersionAndKind(head.APIVersion, head.Kind))
	sample.Object, err = json.Marshal(stored)
	return err
}

// message is what the generated Go types do themselves.
type message interface {
	Marshal() ([]byte, error)
	Unmarshal([]byte) error
}

// throughStorage encodes and decodes an object as storing it does, which makes empty lists nil.
func throughStorage(object runtime.Object) (runtime.Object, error) {
	raw, err := object.(message).Marshal()
	if err != nil {
		return nil, err
	}
	stored := reflect.New(reflect.TypeOf(object).Elem()).Interface().(runtime.Object)
	return stored, stored.(message).Unmarshal(raw)
}

func fillKinds(scheme *runtime.Scheme, kinds []schema.GroupVersionKind, times int) ([]protobufSample, error) {
	var samples []protobufSample
	for seed := range times {
		for _, gvk := range kinds {
			sample, err := fillKind(scheme, gvk, int64(seed))
			if err != nil {
				return nil, fmt.Errorf("filling %s: %w", gvk, err)
			}
			samples = append(samples, sample)
		}
	}
	return samples, nil
}

// fillKind makes an object with random content and shows it as protobuf and as JSON.
func fillKind(scheme *runtime.Scheme, gvk schema.GroupVersionKind, seed int64) (sample protobufSample, err error) {
	object, err := scheme.New(gvk)
	if err != nil {
		return sample, err
	}
	newFiller(seed).Fill(object)
	object.GetObjectKind().SetGroupVersionKind(gvk)
	var body bytes.Buffer
	if err := protobuf.NewSerializer(scheme, scheme).Encode(object, &body); err != nil {
		return sample, err
	}
	stored, err := throughStorage(object)
	if err != nil {
		return sample, err
	}
	stored.GetObjectKind().SetGroupVersionKind(gvk)
	text, err := json.Marshal(stored)
	return protobufSample{Name: gvk.GroupVersion().String() + "/" + gvk.Kind, Protobuf: body.Bytes(), Object: text}, err
}

// writeSampleFile writes one sample per line.
func writeSampleFile[T any](file string, samples []T) error {
	var out bytes.Buffer
	out.WriteString("[\n")
	for i, sample := range samples {
		if i > 0 {
			out.WriteString(",\n")
		}
		encoder := json.NewEncoder(&out)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(sample); err != nil {
			return err
		}
		out.Truncate(out.Len() - 1)
	}
	out.WriteString("\n]\n")
	return os.WriteFile(file, out.Bytes(), 0o644)
}
