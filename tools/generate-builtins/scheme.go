package main

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	eventsv1 "k8s.io/api/events/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

// groupVersions are the stable versions that are described and served, in the order discovery shows them.
var groupVersions = []schema.GroupVersion{
	corev1.SchemeGroupVersion,
	apiregistrationv1.SchemeGroupVersion,
	appsv1.SchemeGroupVersion,
	eventsv1.SchemeGroupVersion,
	authenticationv1.SchemeGroupVersion,
	authorizationv1.SchemeGroupVersion,
	autoscalingv2.SchemeGroupVersion,
	autoscalingv1.SchemeGroupVersion,
	batchv1.SchemeGroupVersion,
	certificatesv1.SchemeGroupVersion,
	networkingv1.SchemeGroupVersion,
	policyv1.SchemeGroupVersion,
	rbacv1.SchemeGroupVersion,
	storagev1.SchemeGroupVersion,
	admissionregistrationv1.SchemeGroupVersion,
	apiextensionsv1.SchemeGroupVersion,
	schedulingv1.SchemeGroupVersion,
	coordinationv1.SchemeGroupVersion,
	discoveryv1.SchemeGroupVersion,
}

// metaKinds belong to no group: clients send them under the version of whatever they talk to.
var metaKinds = []any{metav1.DeleteOptions{}, metav1.Status{}, metav1.WatchEvent{}}

// newScheme knows the Go type of every kind of groupVersions.
func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	builder := runtime.NewSchemeBuilder(
		corev1.AddToScheme, apiregistrationv1.AddToScheme, appsv1.AddToScheme, eventsv1.AddToScheme,
		authenticationv1.AddToScheme, authorizationv1.AddToScheme, autoscalingv2.AddToScheme,
		autoscalingv1.AddToScheme, batchv1.AddToScheme, certificatesv1.AddToScheme, networkingv1.AddToScheme,
		policyv1.AddToScheme, rbacv1.AddToScheme, storagev1.AddToScheme, admissionregistrationv1.AddToScheme,
		apiextensionsv1.AddToScheme, schedulingv1.AddToScheme, coordinationv1.AddToScheme, discoveryv1.AddToScheme,
	)
	return scheme, builder.AddToScheme(scheme)
}
