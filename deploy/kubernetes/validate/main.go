// Command validate decodes Kubernetes manifests strictly into the types of
// Kubernetes itself, and checks that they find each other: labels, ports, volumes
// and what is referred to by name. It is a module of its own so that frontdesk
// does not depend on those types.
package main

import (
	"bytes"
	"fmt"
	"os"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
)

func main() {
	var m manifests
	for _, file := range os.Args[1:] {
		text, err := os.ReadFile(file)
		if err == nil {
			err = m.read(file, text)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	faults := m.check()
	for _, fault := range faults {
		fmt.Fprintln(os.Stderr, fault)
	}
	if len(faults) > 0 {
		os.Exit(1)
	}
	fmt.Printf("%d manifests are what Kubernetes expects\n", m.count)
}

// manifests are all documents, by kind and name.
type manifests struct {
	count       int
	named       map[string]bool // Kind/name
	deployments []*apps.Deployment
	services    []*core.Service
	budgets     []*policy.PodDisruptionBudget
	policies    []*networking.NetworkPolicy
}

func (m *manifests) read(file string, text []byte) error {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{apps.AddToScheme, core.AddToScheme, networking.AddToScheme, policy.AddToScheme} {
		if err := add(scheme); err != nil {
			return err
		}
	}
	decoder := json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme, scheme, json.SerializerOptions{Yaml: true, Strict: true})
	for i, doc := range bytes.Split(text, []byte("\n---\n")) {
		object, kind, err := decoder.Decode(doc, nil, nil)
		if err != nil {
			return fmt.Errorf("%s, document %d: %w", file, i+1, err)
		}
		m.count++
		m.add(kind.Kind, object)
	}
	return nil
}

func (m *manifests) add(kind string, object runtime.Object) {
	if m.named == nil {
		m.named = map[string]bool{}
	}
	if named, ok := object.(interface{ GetName() string }); ok {
		m.named[kind+"/"+named.GetName()] = true
	}
	switch object := object.(type) {
	case *apps.Deployment:
		m.deployments = append(m.deployments, object)
	case *core.Service:
		m.services = append(m.services, object)
	case *policy.PodDisruptionBudget:
		m.budgets = append(m.budgets, object)
	case *networking.NetworkPolicy:
		m.policies = append(m.policies, object)
	}
}

// check finds what would be applied and then not work.
func (m *manifests) check() (faults []string) {
	for _, d := range m.deployments {
		pod := d.Spec.Template
		if !selects(d.Spec.Selector.MatchLabels, pod.Labels) {
			faults = append(faults, d.Name+": the selector does not match the pod's labels")
		}
		for _, s := range m.services {
			if !selects(s.Spec.Selector, pod.Labels) {
				faults = append(faults, s.Name+": the service selects no pod")
			}
			for _, p := range s.Spec.Ports {
				if !hasPort(pod.Spec, p.TargetPort.StrVal) {
					faults = append(faults, s.Name+": the pod has no port "+p.TargetPort.StrVal)
				}
			}
		}
		for _, b := range m.budgets {
			if !selects(b.Spec.Selector.MatchLabels, pod.Labels) {
				faults = append(faults, b.Name+": the disruption budget selects no pod")
			}
		}
		for _, p := range m.policies {
			if !selects(p.Spec.PodSelector.MatchLabels, pod.Labels) {
				faults = append(faults, p.Name+": the network policy selects no pod")
			}
			for _, in := range p.Spec.Ingress {
				for _, port := range in.Ports {
					if !hasPort(pod.Spec, port.Port.StrVal) {
						faults = append(faults, p.Name+": the pod has no port "+port.Port.StrVal)
					}
				}
			}
		}
		faults = append(faults, m.checkPod(d.Name, pod.Spec)...)
	}
	return faults
}

// checkPod wants every volume to be there and to come from something that is.
func (m *manifests) checkPod(name string, pod core.PodSpec) (faults []string) {
	volumes := map[string]bool{}
	for _, v := range pod.Volumes {
		volumes[v.Name] = true
		if v.ConfigMap != nil && !m.named["ConfigMap/"+v.ConfigMap.Name] {
			faults = append(faults, name+": no ConfigMap "+v.ConfigMap.Name)
		}
		if c := v.PersistentVolumeClaim; c != nil && !m.named["PersistentVolumeClaim/"+c.ClaimName] {
			faults = append(faults, name+": no PersistentVolumeClaim "+c.ClaimName)
		}
	}
	for _, c := range pod.Containers {
		for _, mount := range c.VolumeMounts {
			if !volumes[mount.Name] {
				faults = append(faults, name+": no volume "+mount.Name)
			}
		}
		for _, from := range c.EnvFrom {
			if from.SecretRef != nil && !m.named["Secret/"+from.SecretRef.Name] {
				faults = append(faults, name+": no Secret "+from.SecretRef.Name)
			}
		}
		for _, probe := range []*core.Probe{c.StartupProbe, c.LivenessProbe, c.ReadinessProbe} {
			if probe == nil || probe.HTTPGet == nil || !hasPort(pod, probe.HTTPGet.Port.StrVal) {
				faults = append(faults, name+": a probe that is missing, or asks a port that is not there")
			}
		}
	}
	return faults
}

func selects(selector, labels map[string]string) bool {
	for name, value := range selector {
		if labels[name] != value {
			return false
		}
	}
	return len(selector) > 0
}

func hasPort(pod core.PodSpec, name string) bool {
	for _, c := range pod.Containers {
		for _, p := range c.Ports {
			if p.Name == name {
				return true
			}
		}
	}
	return false
}
