// Command validate renders folders of manifests as kubectl apply -k does, decodes them strictly
// into the types of Kubernetes itself, and checks that they find each other: labels, ports,
// volumes and what is referred to by name. The folders of one call are meant to be applied
// together. It is a module of its own so that frontdesk does not depend on those types.
package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

func main() {
	var m manifests
	for _, folder := range os.Args[1:] {
		if err := m.render(folder); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", folder, err)
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

// manifests are all objects, by kind and name.
type manifests struct {
	count     int
	named     map[string]runtime.Object // Kind/name
	workloads []workload
	services  []*core.Service
	budgets   []*policy.PodDisruptionBudget
	policies  []*networking.NetworkPolicy
	ingresses []*networking.Ingress
}

// workload is what runs pods.
type workload struct {
	name     string
	replicas int32
	selector map[string]string
	pod      core.PodTemplateSpec
	claims   []core.PersistentVolumeClaim // which are made for each pod
}

// render adds what a folder stands for.
func (m *manifests) render(folder string) error {
	files, err := examples(filepath.Dir(filepath.Clean(folder)))
	if err != nil {
		return err
	}
	rendered, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(files, "/"+filepath.Base(folder))
	if err != nil {
		return err
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{apps.AddToScheme, core.AddToScheme, networking.AddToScheme, policy.AddToScheme} {
		if err := add(scheme); err != nil {
			return err
		}
	}
	decoder := json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme, scheme, json.SerializerOptions{Yaml: true, Strict: true})
	for _, resource := range rendered.Resources() {
		text, err := resource.AsYAML()
		if err != nil {
			return err
		}
		object, kind, err := decoder.Decode(text, nil, nil)
		if err != nil {
			return fmt.Errorf("%s: %w", resource.CurId(), err)
		}
		m.add(kind.Kind+"/"+resource.GetName(), object)
	}
	return nil
}

// examples is a copy of a folder in which each file that is to be made of its example is one.
func examples(root string) (filesys.FileSystem, error) {
	files := filesys.MakeFsInMemory()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		inside, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		return files.WriteFile("/"+strings.TrimSuffix(inside, ".example"), text)
	})
	return files, err
}

func (m *manifests) add(name string, object runtime.Object) {
	if m.named == nil {
		m.named = map[string]runtime.Object{}
	}
	m.count++
	m.named[name] = object
	switch object := object.(type) {
	case *apps.Deployment:
		m.workloads = append(m.workloads, workload{object.Name, *object.Spec.Replicas, object.Spec.Selector.MatchLabels, object.Spec.Template, nil})
	case *apps.StatefulSet:
		m.workloads = append(m.workloads, workload{object.Name, *object.Spec.Replicas, object.Spec.Selector.MatchLabels, object.Spec.Template, object.Spec.VolumeClaimTemplates})
	case *core.Service:
		m.services = append(m.services, object)
	case *policy.PodDisruptionBudget:
		m.budgets = append(m.budgets, object)
	case *networking.NetworkPolicy:
		m.policies = append(m.policies, object)
	case *networking.Ingress:
		m.ingresses = append(m.ingresses, object)
	}
}
