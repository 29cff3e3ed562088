package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"sort"
	"strconv"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kubernetes/pkg/generated/openapi"
)

// typeRow describes one Go struct. The keys are short because the table is loaded by every process; they are
// spelt out in packages/api/src/builtin/description.ts.
type typeRow struct {
	MapType string     `json:"mt,omitempty"`
	Fields  []fieldRow `json:"f"`
}

type fieldRow struct {
	Name      string   `json:"n,omitempty"`
	Type      string   `json:"t"`
	GoType    string   `json:"g,omitempty"`
	Embedded  string   `json:"i,omitempty"`
	Pointer   bool     `json:"p,omitempty"`
	OmitEmpty bool     `json:"o,omitempty"`
	OmitZero  bool     `json:"z,omitempty"`
	Tag       int      `json:"b,omitempty"`
	Strategy  string   `json:"ps,omitempty"`
	MergeKey  string   `json:"pk,omitempty"`
	ListType  string   `json:"lt,omitempty"`
	ListKeys  []string `json:"lk,omitempty"`
	MapType   string   `json:"mt,omitempty"`
	Required  bool     `json:"r,omitempty"`
	Default   any      `json:"d,omitempty"`
	Enum      []any    `json:"e,omitempty"`
	Format    string   `json:"fm,omitempty"`
}

// special are the types whose JSON form their Go structure does not tell.
var special = map[reflect.Type]string{
	reflect.TypeFor[resource.Quantity]():                            "quantity",
	reflect.TypeFor[metav1.Time]():                                  "time",
	reflect.TypeFor[metav1.MicroTime]():                             "microTime",
	reflect.TypeFor[metav1.FieldsV1]():                              "fieldsV1",
	reflect.TypeFor[intstr.IntOrString]():                           "intOrString",
	reflect.TypeFor[runtime.RawExtension]():                         "rawExtension",
	reflect.TypeFor[apiextensionsv1.JSON]():                         "json",
	reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrBool]():        "schemaOrBool",
	reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrArray]():       "schemaOrArray",
	reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrStringArray](): "schemaOrStrings",
}

// also named here because nothing but the special types above refers to it.
var schemaProps = reflect.TypeFor[apiextensionsv1.JSONSchemaProps]()

var objectMeta = reflect.TypeFor[metav1.ObjectMeta]()

type describer struct {
	rows        map[string]typeRow
	packages    map[string]string
	definitions map[string]common.OpenAPIDefinition
}

// writeTypes describes every kind and everything a kind refers to.
func writeTypes(file string) error {
	scheme, err := newScheme()
	if err != nil {
		return err
	}
	d := describer{
		rows:        map[string]typeRow{},
		packages:    map[string]string{},
		definitions: openapi.GetOpenAPIDefinitions(func(name string) spec.Ref { return spec.MustCreateRef(name) }),
	}
	kinds := map[string]string{}
	for _, gv := range groupVersions {
		for kind, t := range scheme.KnownTypes(gv) {
			if isServedKind(kind, t) {
				kinds[gv.String()+"/"+kind] = d.ref(t)
			}
		}
	}
	for _, value := range metaKinds {
		t := reflect.TypeOf(value)
		kinds[t.Name()] = d.ref(t)
	}
	d.ref(schemaProps)
	return os.WriteFile(file, d.render(kinds), 0o644)
}

// isServedKind leaves out lists, query parameters and discovery documents, which are registered as kinds too.
func isServedKind(kind string, t reflect.Type) bool {
	if t.PkgPath() == objectMeta.PkgPath() {
		return false
	}
	if _, isList := t.FieldByName("Items"); isList && strings.HasSuffix(kind, "List") {
		return false
	}
	return !strings.HasSuffix(kind, "Options") && kind != "List"
}

// ref answers the short name of a struct and makes sure it is described.
func (d describer) ref(t reflect.Type) string {
	path := strings.Split(t.PkgPath(), "/")
	prefix := strings.Join(path[len(path)-2:], ".")
	name := prefix + "." + t.Name()
	if _, known := d.rows[name]; known {
		return name
	}
	model := modelName(t)
	d.packages[prefix] = strings.TrimSuffix(model, "."+t.Name())
	d.rows[name] = typeRow{}
	definition := d.definitions[model].Schema
	row := typeRow{MapType: extension(definition, "x-kubernetes-map-type"), Fields: []fieldRow{}}
	for i := range t.NumField() {
		if field, ok := d.field(t, t.Field(i)); ok {
			row.Fields = append(row.Fields, field)
		}
	}
	d.rows[name] = row
	return name
}

func (d describer) field(owner reflect.Type, f reflect.StructField) (fieldRow, bool) {
	parts := strings.Split(f.Tag.Get("json"), ",")
	if parts[0] == "-" {
		return fieldRow{}, false
	}
	row := fieldRow{Name: parts[0]}
	for _, option := range parts[1:] {
		switch option {
		case "omitempty":
			row.OmitEmpty = true
		case "omitzero":
			row.OmitZero = true
		case "inline":
		default:
			panic("unknown json option " + option + " on " + owner.String() + "." + f.Name)
		}
	}
	if tag := f.Tag.Get("protobuf"); tag != "" && tag != "-" {
		number, err := strconv.Atoi(strings.Split(tag, ",")[1])
		if err != nil {
			panic(err)
		}
		row.Tag = number
	}
	t := f.Type
	if f.Anonymous && row.Name == "" {
		row.Embedded = f.Name
		row.Type = "@" + d.ref(t)
		return row, true
	}
	if row.Name == "" {
		row.Name = f.Name
	}
	if t.Kind() == reflect.Pointer {
		row.Pointer = true
		t = t.Elem()
	}
	row.Type = d.typeName(t)
	if strings.HasPrefix(row.Type, "[=]") {
		panic("the decoder knows lists with a message of their own as values of maps only: " + owner.String())
	}
	if goType := t.String(); goType != impliedGoType(row.Type) {
		row.GoType = goType
	}
	row.Strategy = f.Tag.Get("patchStrategy")
	row.MergeKey = f.Tag.Get("patchMergeKey")
	d.addSchema(&row, owner)
	return row, true
}

// typeName writes a type in the table's language: a word, []T, {}T or @reference.
func (d describer) typeName(t reflect.Type) string {
	if name, ok := special[t]; ok {
		return name
	}
	switch t.Kind() {
	case reflect.String, reflect.Bool, reflect.Int32, reflect.Int64, reflect.Float64:
		return t.Kind().String()
	case reflect.Struct:
		return "@" + d.ref(t)
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "bytes"
		}
		// A named list with a message of its own: `ExtraValue { repeated string items = 1 }`.
		if _, isMessage := reflect.PointerTo(t).MethodByName("Marshal"); isMessage {
			return "[=]" + d.typeName(t.Elem())
		}
		return "[]" + d.typeName(t.Elem())
	case reflect.Map:
		if t.Key().Kind() != reflect.String {
			panic("map without string keys: " + t.String())
		}
		return "{}" + d.typeName(t.Elem())
	}
	panic("no way to describe " + t.String())
}

// impliedGoType is how Go writes a type of the table when no package gave it a name of its own.
func impliedGoType(name string) string {
	switch {
	case strings.HasPrefix(name, "[]"):
		return "[]" + impliedGoType(name[2:])
	case strings.HasPrefix(name, "{}"):
		return "map[string]" + impliedGoType(name[2:])
	case strings.HasPrefix(name, "@"):
		parts := strings.Split(name, ".")
		return strings.Join(parts[len(parts)-2:], ".")
	}
	for t, word := range special {
		if word == name {
			return t.String()
		}
	}
	if name == "bytes" {
		return "[]uint8"
	}
	return name
}

// addSchema adds what only the OpenAPI definitions say about a field. Descriptions are not taken over.
func (d describer) addSchema(row *fieldRow, owner reflect.Type) {
	definition := d.definitions[modelName(owner)].Schema
	property, ok := definition.Properties[row.Name]
	if !ok {
		return
	}
	row.ListType = extension(property, "x-kubernetes-list-type")
	row.MapType = extension(property, "x-kubernetes-map-type")
	if keys, ok := property.Extensions["x-kubernetes-list-map-keys"].([]any); ok {
		for _, key := range keys {
			row.ListKeys = append(row.ListKeys, key.(string))
		}
	}
	for _, required := range definition.Required {
		row.Required = row.Required || required == row.Name
	}
	if !isTrivial(property.Default) {
		row.Default = property.Default
	}
	row.Enum = property.Enum
	if !impliedFormats[property.Format] {
		row.Format = property.Format
	}
}

// impliedFormats follow from the type.
var impliedFormats = map[string]bool{
	"": true, "int32": true, "int64": true, "double": true, "byte": true, "date-time": true, "int-or-string": true,
}

// isTrivial tells the defaults that every field of its type has from those somebody chose.
func isTrivial(value any) bool {
	if value == nil {
		return true
	}
	v := reflect.ValueOf(value)
	return v.IsZero() || v.Kind() == reflect.Map && v.Len() == 0
}

func extension(s spec.Schema, name string) string {
	value, _ := s.Extensions.GetString(name)
	return value
}

func modelName(t reflect.Type) string {
	named, ok := reflect.Zero(t).Interface().(interface{ OpenAPIModelName() string })
	if !ok {
		panic("no OpenAPI name: " + t.String())
	}
	return named.OpenAPIModelName()
}

// render writes one type per line, so that a change of version reads well as a diff.
func (d describer) render(kinds map[string]string) []byte {
	var out bytes.Buffer
	out.WriteString("// Generated by tools/generate-builtins from the Go types of Kubernetes 1.36.4. Do not edit.\n")
	out.WriteString("/** The table that builtin/description.ts reads, as JSON text: parsing it is faster than loading a literal. */\n")
	out.WriteString("export const builtinTypesJson = `{\"packages\":")
	out.WriteString(escape(d.packages))
	out.WriteString(",\n\"kinds\":{\n")
	writeLines(&out, kinds)
	out.WriteString("},\n\"types\":{\n")
	writeLines(&out, d.rows)
	out.WriteString("}}`;\n")
	return out.Bytes()
}

func writeLines[T any](out *bytes.Buffer, entries map[string]T) {
	names := make([]string, 0, len(entries))
	for name := range entries {
		names = append(names, name)
	}
	sort.Strings(names)
	for i, name := range names {
		fmt.Fprintf(out, "%s:%s", escape(name), escape(entries[name]))
		if i < len(names)-1 {
			out.WriteString(",")
		}
		out.WriteString("\n")
	}
}

// escape writes JSON that stands inside a template literal.
func escape(value any) string {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(err)
	}
	return strings.NewReplacer("\\", "\\\\", "`", "\\`", "${", "\\${").Replace(strings.TrimSpace(text.String()))
}
